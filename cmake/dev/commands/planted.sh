# ./dev planted [--changed [--minutes N] | NAME...]
#
# A fault is out of date if its patch no longer applies, if the patched tree does not compile, or if
# its test does not exist. Mend the patch, or remove it.
#
# With --minutes, as in CI, no fault is begun after N minutes. The names of the faults that were left
# are in build/planted/left, and the next run with --changed plants them. Those that are out of date
# are in build/planted/out_of_date, and those whose tests this machine skips are in
# build/planted/skipped. Neither is a failure then: they say nothing about the tests.
#
# A fault is a file tests/planted/NAME.patch: some lines of text, and a patch. A line "Found-by:
# REGEX" matches the ctest name of a test, which must fail with the fault and pass without it. A
# line "Preset: debug" selects that preset instead of release. With "Preset: arm64", the test runs in
# an emulator. With "Preset: mixed", it is a test of tests/arm/, whose ranks have several processors.
# shellcheck shell=bash
source cmake/dev/record.sh
source cmake/dev/planted_copy.sh
source cmake/dev/sysroot.sh

lists=(wrong out_of_date skipped left)  # The files of names in build/planted.

# head_of NAME FIELD prints the values of a field in the lines before the patch.
head_of() { sed -n -e '/^\(diff \|--- \)/q' -e "s/^$2: *//p" "tests/planted/$1.patch"; }

preset_of() {
  local preset
  preset=$(head_of "$1" Preset)
  echo "${preset:-release}"
}

# builds_of NAME prints the presets that the fault is built with. ctest runs the tests of the last.
builds_of() {
  local preset
  preset=$(preset_of "$1")
  if [[ $preset == mixed ]]; then printf '%s\n' arm64 armhf release; else echo "$preset"; fi
}

# setup_presets_of NAME... installs what the presets of the faults need.
setup_presets_of() {
  local name architecture
  setup build test planted
  for architecture in $(for name; do builds_of "$name"; done | grep '^arm' | sort -u); do
    setup arm
    make_sysroot "$architecture"
  done
}

# is_for_arm NAME succeeds if the fault is built for ARM.
is_for_arm() { [[ $(builds_of "$1") == arm* ]]; }

# without_arm NAME... prints the names. If this machine cannot get what the builds for ARM need, it
# leaves out the faults that need them, and lists them in build/planted/skipped.
without_arm() {
  local name obstacle
  for name; do
    if ! is_for_arm "$name"; then
      echo "$name"
      continue
    fi
    if [[ ! -v obstacle ]]; then
      (setup arm) >&2 || true
      obstacle=$(arm_obstacle)
    fi
    if [[ -z $obstacle ]]; then
      echo "$name"
    else
      say "$name: skipped: $obstacle" >&2
      echo "$name" >>build/planted/skipped
    fi
  done
}

# patched_by NAME prints the files that the patch changes.
patched_by() { sed -n 's|^+++ b/\([^[:space:]]*\).*|\1|p' "tests/planted/$1.patch"; }

# fault_key NAME prints a digest of the patch, of the files that it changes, and of the folders of
# the tests that find the fault. If the folder of a test cannot be found by its name, the digest
# covers all tests.
fault_key() {
  local test folders files=()
  mapfile -t files < <(patched_by "$1")
  while read -r test; do
    # Turns "^faults_test\.Suite\.Name$" into a pattern for TEST_F(Suite, Name).
    test=$(sed -n 's/.*[.]\([A-Za-z0-9_]*\)\\*[.]\([A-Za-z0-9_]*\).*/\1, *\2/p' <<<"$test")
    folders=
    [[ -z $test ]] || folders=$(grep -rlE --include='*.cpp' "TEST(_F|_P)?\\($test" tests |
      xargs -r dirname | sort -u)
    mapfile -t -O "${#files[@]}" files <<<"${folders:-tests}"
  done < <(head_of "$1" Found-by)
  digest_of "tests/planted/$1.patch" "${files[@]}"
}

# configure_for NAME configures the presets of the fault in the copy.
configure_for() {
  local preset is_mixed=OFF
  [[ $(preset_of "$1") != mixed ]] || is_mixed=ON
  for preset in $(builds_of "$1"); do
    in_copy configure_all "$preset" -DROTA_ARM_TESTS=$is_mixed || return
  done
}

# build_for NAME builds, in the copy, the programs of the tests that find the fault. A test that is
# a script needs no program.
build_for() {
  local preset targets=() test
  if [[ $(preset_of "$1") == mixed ]]; then
    in_copy compile arm64 "${mixed_programs[@]}" && in_copy compile armhf "${mixed_programs[@]}" ||
      return
  fi
  preset=$(builds_of "$1" | tail -n 1)
  while read -r test; do
    mapfile -t -O "${#targets[@]}" targets < <(programs_of "$test" "$preset")
  done < <(head_of "$1" Found-by)
  ((${#targets[@]} == 0)) || in_copy compile "$preset" "${targets[@]}"
}

# verdict_of NAME TEST runs a test in the copy, and prints "passes", "fails", "is not there" or "is
# skipped here". If the expression matches several tests, it is enough that one of them passes.
verdict_of() {
  local log=build/planted/$1.log status=0
  ROTA_SYSROOTS=$kept/arm in_copy run_tests "$(builds_of "$1" | tail -n 1)" -R "$2" \
    >"$log" 2>&1 || status=$?
  if grep -q '^No tests were found' "$log"; then
    echo "is not there"
  elif ((status == 0)) && grep -q '[.][*]\{3\}Skipped ' "$log" && ! grep -q '[.] *Passed ' "$log"; then
    echo "is skipped here"
  elif ((status == 0)); then
    echo passes
  else
    echo fails
  fi
}

# knows_without NAME succeeds if all tests of a fault have run before without a fault.
knows_without() {
  local test
  while read -r test; do
    grep -qsF -e "$(preset_of "$1") $test: " "$planted_tree.without" || return
  done < <(head_of "$1" Found-by)
}

# without_fault NAME prints what is wrong with the tests of a fault before the fault is planted.
without_fault() {
  local test verdict log=build/planted/$1.log
  [[ -n $(head_of "$1" Found-by) ]] || { echo "names no test: it has no line Found-by" && return; }
  knows_without "$1" ||
    { renew_copy && configure_for "$1" && build_for "$1"; } >"$log" 2>&1 ||
    { echo "$(head_of "$1" Found-by): cannot be built without the fault: $log" && return; }
  while read -r test; do
    verdict=$(verdict_without "$1" "$test")
    [[ $verdict != "is not there" ]] || { echo "out of date: $test is not there: $log" && return; }
    [[ $verdict != "is skipped here" ]] || { echo "skipped: $test $verdict: $log" && return; }
    [[ $verdict == passes ]] || { echo "$test $verdict, without the fault: $log" && return; }
  done < <(head_of "$1" Found-by)
}

# verdict_without NAME TEST is verdict_of before the fault is planted. The test runs only once for
# all faults that it finds. A test that fails is tried once more.
verdict_without() {
  local known=$planted_tree.without verdict
  local key="$(preset_of "$1") $2"
  if ! grep -qsxF -e "$key: passes" "$known"; then
    verdict=$(verdict_of "$1" "$2")
    [[ $verdict != fails ]] || verdict=$(verdict_of "$1" "$2")
    echo "$key: $verdict" >>"$known"
  fi
  sed -n "s/^.*: //p" <(grep -F -e "$key: " "$known" | tail -n 1)
}

# finds NAME TEST succeeds if a test fails with the fault. A fault in the order of threads shows in
# some runs only, so the test has three.
finds() {
  local run
  for run in 1 2 3; do
    [[ $(verdict_of "$1" "$2") != fails ]] || return 0
  done
  return 1
}

# with_fault NAME plants a fault, and prints what is wrong if a test does not find the fault.
with_fault() {
  local test log=build/planted/$1.log
  renew_copy >"$log" 2>&1 || { echo "the tree cannot be copied: $log" && return; }
  patch -d "$planted_tree" -p1 --fuzz=2 --no-backup-if-mismatch \
    <"tests/planted/$1.patch" >"$log" 2>&1 || { echo "out of date: does not apply: $log" && return; }
  build_for "$1" >"$log" 2>&1 || { echo "out of date: does not build: $log" && return; }
  while read -r test; do
    finds "$1" "$test" || { echo "NOT FOUND by $test: $log" && return; }
  done < <(head_of "$1" Found-by)
}

# chosen_faults [--changed | NAME...] prints the names of the faults to plant.
chosen_faults() {
  local name
  if (($#)) && [[ $1 != --changed ]]; then
    for name in "$@"; do
      [[ -f tests/planted/$name.patch ]] || die "planted: there is no tests/planted/$name.patch"
      echo "$name"
    done
    return
  fi
  for name in tests/planted/*.patch; do
    name=${name##*/}
    name=${name%.patch}
    if [[ ${1:-} == --changed ]] && has_passed "planted/$name" "$(fault_key "$name")"; then
      say "already found, and unchanged: $name" >&2
    else
      echo "$name"
    fi
  done
}

# is_simulated NAME succeeds if only the simulation has to find the fault. The simulation has one
# thread and a simulated clock.
is_simulated() { [[ $(head_of "$1" Found-by) == '^simulation$' ]]; }

# plant_all END NAME... plants the faults in the copy, one after the other, and begins none when
# SECONDS has come to END. Into $planted_tree.wrong, .out_of_date, .skipped and .left, it writes the
# names of faults that are not found, that are out of date, whose tests are skipped here, and that
# were not begun.
plant_all() {
  local end=$1 name key problem list
  shift
  mkdir -p "$planted_tree"
  rm -f "$planted_tree.without"
  for list in "${lists[@]}"; do : >"$planted_tree.$list"; done
  for name; do
    ((SECONDS < end)) || { echo "$name" >>"$planted_tree.left" && continue; }
    key=$(fault_key "$name")
    problem=$(without_fault "$name")
    [[ -n $problem ]] || problem=$(with_fault "$name")
    if [[ -z $problem ]]; then
      echo "$name: found by $(head_of "$name" Found-by | paste -sd ' ')"
      note_passed "planted/$name" "$key"
    else
      echo "$name: $problem"
      case $problem in
        "out of date: "*) echo "$name" >>"$planted_tree.out_of_date" ;;
        "skipped: "*) echo "$name" >>"$planted_tree.skipped" ;;
        *) echo "$name" >>"$planted_tree.wrong" ;;
      esac
    fi
  done
}

# collect TREE... adds what plant_all has listed beside these copies to the lists in build/planted.
collect() {
  local tree list
  for tree; do
    for list in "${lists[@]}"; do cat "$tree.$list" >>"build/planted/$list"; done
  done
}

# in_drawn_order NAME... prints the names in an order that the newest commit draws. If each run has
# time for some faults only, and no record of the runs before, the runs plant different ones.
in_drawn_order() {
  local name commit
  commit=$(git rev-parse HEAD 2>/dev/null) || commit=none
  for name; do echo "$(digest <<<"$commit $name") $name"; done | LC_ALL=C sort | cut -c 66-
}

command_planted() {
  local chosen name other names=() first=() second=() others=() wrong=() minutes='' list
  local first_tree=build/planted/first second_tree=build/planted/second
  local end seconds=1000000000  # Without --minutes the end is never reached.
  if [[ ${1:-} == --changed && ${2:-} == --minutes ]]; then
    minutes=${3:-}
    [[ $minutes =~ ^[0-9]{1,4}$ ]] || die "planted: --minutes wants a number, not '$minutes'"
    set -- --changed
  fi
  chosen=$(chosen_faults "$@")
  mkdir -p build/planted
  for list in "${lists[@]}"; do : >"build/planted/$list"; done
  [[ -n $chosen ]] || return 0
  mapfile -t names <<<"$chosen"
  if [[ -n $minutes ]]; then
    mapfile -t names < <(in_drawn_order "${names[@]}")
    mapfile -t names < <(without_arm "${names[@]}")
    ((${#names[@]} > 0)) || return 0
  fi
  setup_presets_of "${names[@]}"
  say "planting ${#names[@]} faults in copies of the tree below build/planted"
  for name in "${names[@]}"; do
    if ! is_simulated "$name"; then
      others+=("$name")
    elif ((${#first[@]} <= ${#second[@]})); then
      first+=("$name")
    else
      second+=("$name")
    fi
  done
  [[ -z $minutes ]] || seconds=$((10#$minutes * 60))
  end=$((SECONDS + seconds))
  # Two simulations can run together, because each has its own clock. Other tests measure real time,
  # so they run alone, and half of the time is theirs.
  planted_tree=$second_tree plant_all $((end - seconds / 2)) "${second[@]}" &
  other=$!
  planted_tree=$first_tree plant_all $((end - seconds / 2)) "${first[@]}"
  wait "$other" || die "planted: some faults could not be tried in $second_tree"
  collect "$second_tree" "$first_tree"
  planted_tree=$first_tree plant_all "$end" "${others[@]}"
  collect "$first_tree"
  [[ -n $minutes ]] || cat build/planted/{out_of_date,skipped} >>build/planted/wrong
  mapfile -t wrong <build/planted/wrong
  ((${#wrong[@]} == 0)) || die "planted: these faults failed, see above: ${wrong[*]}"
}

# ./dev planted [--changed | NAME...]
#
# A fault is tests/planted/NAME.patch: some lines of text and a patch. Of the lines, each "Found-by:
# REGEX" names a test by ctest's name, which must fail with the fault and pass without; "Preset:
# debug" builds that instead of release.
# shellcheck shell=bash
source cmake/dev/record.sh
source cmake/dev/planted_copy.sh

# head_of NAME FIELD prints what the lines before the patch say.
head_of() { sed -n -e '/^\(diff \|--- \)/q' -e "s/^$2: *//p" "tests/planted/$1.patch"; }

preset_of() {
  local preset
  preset=$(head_of "$1" Preset)
  echo "${preset:-release}"
}

# patched_by NAME prints the files that a fault is planted in.
patched_by() { sed -n 's|^+++ b/\([^[:space:]]*\).*|\1|p' "tests/planted/$1.patch"; }

# fault_key NAME: of the patch, what it is planted in, and the folders of the tests that find it; of
# all tests where a name tells no folder.
fault_key() {
  local test folders files=()
  mapfile -t files < <(patched_by "$1")
  while read -r test; do
    # From "^faults_test\.Suite\.Name$" to TEST_F(Suite, Name).
    test=$(sed -n 's/.*[.]\([A-Za-z0-9_]*\)\\*[.]\([A-Za-z0-9_]*\).*/\1, *\2/p' <<<"$test")
    folders=
    [[ -z $test ]] || folders=$(grep -rlE --include='*.cpp' "TEST(_F|_P)?\\($test" tests |
      xargs -r dirname | sort -u)
    mapfile -t -O "${#files[@]}" files <<<"${folders:-tests}"
  done < <(head_of "$1" Found-by)
  digest_of "tests/planted/$1.patch" "${files[@]}"
}

# build_for NAME builds in the copy what the tests need that find a fault. A script needs nothing.
build_for() {
  local preset targets=() test
  preset=$(preset_of "$1")
  while read -r test; do
    mapfile -t -O "${#targets[@]}" targets < <(programs_of "$test" "$preset")
  done < <(head_of "$1" Found-by)
  ((${#targets[@]} == 0)) || in_copy compile "$preset" "${targets[@]}"
}

# verdict_of NAME TEST prints "passes", "fails" or "is not there", of a test in the copy.
verdict_of() {
  local log=build/planted/$1.log status=0
  in_copy run_tests "$(preset_of "$1")" -R "$2" >"$log" 2>&1 || status=$?
  if grep -q '^No tests were found' "$log"; then
    echo "is not there"
  elif ((status == 0)); then
    echo passes
  else
    echo fails
  fi
}

# without_fault NAME prints what is wrong with a fault's tests as long as it is not planted.
without_fault() {
  local test verdict log=build/planted/$1.log
  [[ -n $(head_of "$1" Found-by) ]] || { echo "names no test: it has no line Found-by" && return; }
  { in_copy configure_all "$(preset_of "$1")" && build_for "$1"; } >"$log" 2>&1 ||
    { echo "$(head_of "$1" Found-by): cannot be built without the fault: $log" && return; }
  while read -r test; do
    verdict=$(verdict_without "$1" "$test")
    [[ $verdict == passes ]] || { echo "$test $verdict, without the fault: $log" && return; }
  done < <(head_of "$1" Found-by)
}

# verdict_without NAME TEST, as verdict_of, of the copy as it is: once for all faults of a test.
verdict_without() {
  local known=$planted_tree.without
  local key="$(preset_of "$1") $2"
  grep -qsxF -e "$key: passes" "$known" || echo "$key: $(verdict_of "$1" "$2")" >>"$known"
  sed -n "s/^.*: //p" <(grep -F -e "$key: " "$known" | tail -n 1)
}

# with_fault NAME plants a fault and prints what is wrong, if it is not found.
with_fault() {
  local test log=build/planted/$1.log
  renew_copy >"$log" 2>&1 || { echo "the tree cannot be copied: $log" && return; }
  patch -d "$planted_tree" -p1 --fuzz=0 --no-backup-if-mismatch \
    <"tests/planted/$1.patch" >"$log" 2>&1 || { echo "does not apply: $log" && return; }
  build_for "$1" >"$log" 2>&1 || { echo "does not build: $log" && return; }
  while read -r test; do
    [[ $(verdict_of "$1" "$test") == fails ]] || { echo "NOT FOUND by $test: $log" && return; }
  done < <(head_of "$1" Found-by)
}

# chosen_faults [--changed | NAME...] prints names.
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
      say "found before, and unchanged: $name" >&2
    else
      echo "$name"
    fi
  done
}

# is_simulated NAME: whether the simulation alone is to find it. That has one thread, and a clock of
# its own.
is_simulated() { [[ $(head_of "$1" Found-by) == '^simulation$' ]]; }

# plant_all NAME... in the copy, one after the other. $planted_tree.wrong gets the names of those
# that are not found.
plant_all() {
  local name key problem
  declare -A problems
  mkdir -p "$planted_tree"
  : >"$planted_tree.wrong"
  (($#)) || return 0
  renew_copy
  rm -f "$planted_tree.without"
  for name; do problems[$name]=$(without_fault "$name"); done
  for name; do
    key=$(fault_key "$name")
    problem=${problems[$name]:-$(with_fault "$name")}
    if [[ -z $problem ]]; then
      echo "$name: found by $(head_of "$name" Found-by | paste -sd ' ')"
      note_passed "planted/$name" "$key"
    else
      echo "$name: $problem"
      echo "$name" >>"$planted_tree.wrong"
    fi
  done
}

command_planted() {
  local chosen name other names=() first=() second=() others=() wrong=()
  local first_tree=build/planted/first second_tree=build/planted/second
  chosen=$(chosen_faults "$@")
  [[ -n $chosen ]] || return 0
  mapfile -t names <<<"$chosen"
  setup build test planted
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
  # Two simulations do not mind each other; whatever else there is has the machine to itself.
  planted_tree=$second_tree plant_all "${second[@]}" &
  other=$!
  planted_tree=$first_tree plant_all "${first[@]}"
  wait "$other" || die "planted: in $second_tree not every fault could be tried"
  mapfile -t wrong < <(cat "$first_tree.wrong" "$second_tree.wrong")
  planted_tree=$first_tree plant_all "${others[@]}"
  mapfile -t -O "${#wrong[@]}" wrong <"$first_tree.wrong"
  ((${#wrong[@]} == 0)) || die "planted: see above: ${wrong[*]}"
}

# Tries tests again that have failed. The tests start processes and meet at ports on a busy machine,
# so one in thousands may fail for a reason that is not in the code under test. A test that passes
# when it is tried again is unsteady: the run names it and passes. .ci/run includes this file.
# shellcheck shell=bash disable=SC2154

most_failed=6   # If more tests of a run fail, they have a common cause, and none is tried again.
most_tries=2    # So often one test may be tried again.
failed_tests=0  # How many tests of this run have failed.
unsteady=()     # The names of unsteady tests, for the end of the output.

# ctest's own limits would cut off the line that says what went wrong.
whole_output=(--test-output-size-passed 1000000 --test-output-size-failed 10000000)

# attribute NAME FILE prints a number from the head of a JUnit file.
attribute() { sed -n "0,/^[[:space:]]*$1=\"\([0-9]*\)\".*/s//\1/p" "$2"; }

# not_passed LANE RESULTS prints the names of the tests that failed or made a skip that is not
# allowed. A test whose fixture failed is such a skip.
not_passed() {
  # shellcheck disable=SC2034  # row_of sets row.
  local kind name what why row
  while IFS=$'\t' read -r kind name what why; do
    case $kind in
      failed) echo "$name" ;;
      skipped | idle) row_of "$1: $what" "$why" || echo "$name" ;;
    esac
  done < <(awk -f .ci/results.awk "$2") | LC_ALL=C sort -u
}

# expression_for NAME... prints a regular expression that matches these names of tests, and no other.
expression_for() {
  local joined
  joined=$(printf '%s\n' "$@" | sed 's/[][().+*?^$|\\]/\\&/g' | paste -sd '|')
  echo "^($joined)\$"
}

# labelled SAID LABELS NAME... prints those of the tests that have one of the labels. SAID is what
# ctest has printed: it names the folder of the build.
labelled() {
  local build
  build=$(sed -n 's/^Test project //p' "$1" | tail -n 1)
  [[ -n $build ]] || return
  ctest --test-dir "$build" -N -L "^($2)\$" -R "$(expression_for "${@:3}")" |
    sed -n 's/^ *Test *#[0-9]*: //p'
}

# all_may_be_tried_again RESULTS SAID NAME... succeeds unless one of the failures cannot be for lack
# of time. Proofs, the simulation and the style tests depend on no time. Ranks that compute a wrong
# value are wrong, even if they compute it once. Damaged memory and races may show only once.
all_may_be_tried_again() {
  local name ending kind timeless ranks
  timeless=$(labelled "$2" 'proof|sim|style' "${@:3}") || return
  ranks=$(labelled "$2" ranks "${@:3}") || return
  for name in "${@:3}"; do
    ending=$(sed -n "s/^\t *[0-9]* - \(.*\) (\(.*\))\$/\1\t\2/p" "$2" |
      awk -F '\t' -v name="$name" '$1 == name { print $2 }' | tail -n 1)
    kind=$(awk -f .ci/results.awk "$1" |
      awk -F '\t' -v name="$name" '$1 == "failed" && $2 == name { print $3 }')
    [[ $ending != SEGFAULT && $ending != 'Bus error' && $kind != damage ]] || return
    [[ $ending != Timeout ]] || continue
    ! grep -qxF -e "$name" <<<"$timeless" || return
    [[ $kind == late ]] || ! grep -qxF -e "$name" <<<"$ranks" || return
  done
}

# try_again LANE COMMAND... tries the tests in again, one after the other, and puts those that pass
# then into passed_later. test_lane calls it, with the results of the lane in results and what ctest
# has printed in said.
try_again() {
  local new_results new_said try name left=("${again[@]}") pattern
  ((failed_tests <= most_failed)) || return 0
  new_results=$(mktemp)
  new_said=$(mktemp)
  cp "$results" "$new_results"
  cp "$said" "$new_said"
  for ((try = 0; try < most_tries && ${#left[@]} > 0; ++try)); do
    all_may_be_tried_again "$new_results" "$new_said" "${left[@]}" || break
    pattern=$(expression_for "${left[@]}")
    echo "##### $1: trying again: ${left[*]}"
    : >"$new_results"
    and_keep "$new_said" "${@:2}" -R "$pattern" -j 1 --output-junit "$new_results" \
      "${whole_output[@]}" || true
    # A test that did not run has not passed, and neither has one that was skipped.
    mapfile -t left < <({
      not_passed "$1" "$new_results"
      awk -f .ci/results.awk "$new_results" | awk -F '\t' '$1 == "idle" { print $2 }'
      names_in "$new_results" | LC_ALL=C comm -13 - <(printf '%s\n' "${left[@]}" | LC_ALL=C sort)
    } | LC_ALL=C sort -u)
  done
  rm -f "$new_results" "$new_said"
  while IFS= read -r name; do
    passed_later[$name]=yes
  done < <(LC_ALL=C comm -23 <(printf '%s\n' "${again[@]}") <(printf '%s\n' "${left[@]}"))
}

# names_in RESULTS prints the names of all tests in a JUnit file.
names_in() { awk -f .ci/results.awk "$1" | sed -n 's/^test\t//p' | LC_ALL=C sort -u; }

# tell_unsteady NAME LANE [SKIP] writes an unsteady test into the story, and names it in the verdict
# with the number of times that this machine has seen it.
tell_unsteady() {
  local file=$kept/unsteady times
  { mkdir -p "$kept" && echo "$1" >>"$file"; } 2>/dev/null || true
  times=$(grep -cxF -e "$1" "$file" 2>/dev/null || true)
  unsteady+=("$1 of $2 (${times:-0} times on this machine)")
  echo "##### unsteady: $1 of $2${3:+: skipped, $3}" >>"$story"
}

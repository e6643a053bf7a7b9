# Counts what passed, failed and was skipped, and measures how long each lane took. .ci/run includes
# this file, and sets how many seconds a run may take.
# shellcheck shell=bash disable=SC2154

passed=0
failed=0
skipped=0
grace=30            # Seconds in which a lane that is stopped may clean up.
failures=()         # The names of what failed, for the end of the output.
declare -A rows=()     # For each row of .ci/allowed_skips: how many skips it allowed in this run.
declare -A of_lane=()  # The rows that have allowed the skip of a lane.
out_of_date=           # The names of planted faults that are out of date.
timings=()
story=$(mktemp)  # Lists failures and skips, with what the tests said.
trap 'rm -f "$story"' EXIT

# took NAME BEGIN records how long a lane has taken. It also prints the time immediately, because
# the run may be stopped before its end.
took() {
  local seconds=$((SECONDS - $2))
  timings+=("$(printf '%4d min  %s' $(((seconds + 30) / 60)) "$1")")
  echo "##### $seconds s: $1"
}

# in_session ID prints the processes of a session.
in_session() {
  local stat line fields
  for stat in /proc/[0-9]*/stat; do
    read -r line 2>/dev/null <"$stat" || continue
    read -ra fields <<<"${line##*) }"  # The state, the parent, the group, the session.
    [[ ${fields[3]} != "$1" || ${fields[0]} == Z ]] || echo "${line%% *}"
  done
}

# end_session ID gives a session time to clean up, and then kills the processes that remain in it.
# The processes of a cluster have their own sessions, so the script that started the cluster must
# stop them.
end_session() {
  local pids tries
  for ((tries = 0; tries < grace; ++tries)); do
    [[ -n $(in_session "$1") ]] || return 0
    sleep 1
  done
  mapfile -t pids < <(in_session "$1")
  ((${#pids[@]} == 0)) || kill -KILL "${pids[@]}" 2>/dev/null || true
}

# in_time COMMAND... runs a command. It stops the command at the end of the run's time, and then
# sets was_cut_off.
in_time() {
  local child status=0
  # The command gets its own session: a process group would not be enough, since ctest gives each
  # test its own group.
  setsid timeout --kill-after=60 $((seconds > SECONDS ? seconds - SECONDS : 1)) "$@" &
  child=$!
  # shellcheck disable=SC2064  # $child must be expanded now: it is the child of this call.
  trap "kill $child; end_session $child; exit 130" INT TERM
  wait "$child" || status=$?
  trap - INT TERM
  was_cut_off=$(((status == 124 || status == 137) && SECONDS >= seconds))
  ((was_cut_off == 0)) || end_session "$child"
  return "$status"
}

# and_keep FILE COMMAND... runs a command in time, and also writes into FILE what it prints.
and_keep() {
  local status=0 copy reader
  exec {copy}> >(tee "$1")
  reader=$!
  in_time "${@:2}" >&"$copy" 2>&1 || status=$?
  exec {copy}>&-
  # A process that the command has left behind may keep the pipe open.
  timeout 10 tail --pid="$reader" -f /dev/null || true
  return "$status"
}

# fail NAME counts a failure, and writes it into the story.
fail() {
  ((++failed))
  failures+=("$1")
  echo "##### failed: $1" >>"$story"
}

# lane NAME COMMAND... counts the command as one check. If it fails, the messages of compilers,
# linters and ./dev are also repeated at the end.
lane() {
  local begin=$SECONDS said
  said=$(mktemp)
  echo "##### $1"
  if and_keep "$said" "${@:2}"; then
    ((++passed))
  else
    fail "$1"
    grep -E '(error|warning): |^dev: ' "$said" | head -n 50 >>"$story"
  fi
  rm "$said"
  took "$1" "$begin"
}

# row_of WHAT REASON finds the row of .ci/allowed_skips that allows a skip, and sets row.
row_of() {
  while IFS= read -r row; do
    [[ -z $row || $row == '#'* || ! "$1: $2" =~ ^($row)$ ]] || return 0
  done <.ci/allowed_skips
  return 1
}

# skip WHAT REASON reports a skip. A skip that .ci/allowed_skips does not list is a failure.
skip() {
  local row
  if row_of "$1" "$2"; then
    ((++skipped))
    rows[$row]=$((${rows[$row]:-0} + 1))
    [[ $1 == *": "* ]] || of_lane[$row]=1
    echo "##### skipped: $1: $2" >>"$story"
  else
    fail "skipped, and .ci/allowed_skips does not allow it: $1: $2"
  fi
}

# test_lane NAME COMMAND... runs a command, and counts the tests that ctest ran in this command. It
# succeeds if the command has run to its end, and all that it found is allowed. Tests that fail may
# be tried again: see again.sh.
test_lane() {
  local results said begin=$SECONDS status=0 tests=0 bad=0 idle=0 failed_before=$failed
  local kind name what why row again=() mended=0
  local -A passed_later=()  # The tests that are unsteady.
  local -A told=()          # Those of them that have been told.
  results=$(mktemp)
  said=$(mktemp)
  echo "##### $1"
  and_keep "$said" "${@:2}" --output-junit "$results" "${whole_output[@]}" || status=$?
  if [[ -s $results ]]; then
    tests=$(attribute tests "$results")
    bad=$(attribute failures "$results")
    idle=$(($(attribute skipped "$results") + $(attribute disabled "$results")))
    mapfile -t again < <(not_passed "$1" "$results")
    ((failed_tests += ${#again[@]}))
    if ((!was_cut_off && ${#again[@]} > 0 && (status == 0 || bad > 0))); then try_again "$@"; fi
    while IFS=$'\t' read -r kind name what why; do
      case $kind in
        said) echo "$what" >>"$story" ;;
        failed)
          if [[ -n ${passed_later[$name]:-} ]]; then
            tell_unsteady "$name" "$1"
            ((++mended))
          else
            fail "$name of $1"
          fi
          ;;
        skipped | idle)
          if [[ -n ${passed_later[$name]:-} ]] && ! row_of "$1: $what" "$why"; then
            [[ -n ${told[$name]:-} ]] || tell_unsteady "$name" "$1" "$what: $why"
            told[$name]=yes
            [[ $kind != idle ]] || ((--idle))
          else
            skip "$1: $what" "$why"
          fi
          ;;
      esac
    done < <(awk -f .ci/results.awk "$results")
  fi
  rm -f "$results" "$said"
  if ((was_cut_off)); then
    skip "$1" "cut off, as the run has had its $((seconds / 60)) minutes"
  elif ((status != 0 && bad == 0)); then
    # A failure outside of the tests, such as a failed build, counts as one failure.
    fail "$1, before or after its tests"
  fi
  ((passed += tests - idle - bad + mended))
  took "$1" "$begin"
  ((failed == failed_before && !was_cut_off))
}

# at_most COUNT LINE... prints lines, and says how many more there are.
at_most() {
  (($# > 1)) || return 0
  printf '%s\n' "${@:2}" | head -n "$1"
  (($# - 1 <= $1)) || echo "and $(($# - 1 - $1)) more, see above"
}

# verdict prints what failed at length, and then, in at most 40 lines, what counts: a log may keep
# only the end of a long output. Skipped lanes come before skipped tests, which may be many.
verdict() {
  local row lines=()
  cat "$story"
  echo "##### verdict"
  at_most 9 "${failures[@]/#/failed: }"
  at_most 6 "${unsteady[@]/#/unsteady: }"
  for row in "${!rows[@]}"; do
    lines+=("$(printf '%d%5d skipped: %s' "${of_lane[$row]:-0}" "${rows[$row]}" "$row")")
  done
  mapfile -t lines < <( ((${#lines[@]} == 0)) ||
    printf '%s\n' "${lines[@]}" | LC_ALL=C sort -r | cut -c 2-)
  at_most 7 "${lines[@]}"
  [[ -z $out_of_date ]] || echo "out of date: ${out_of_date:0:200}"
  at_most 11 "${timings[@]}"
  if ((skipped > 0)); then
    echo "$passed passed, $failed failed, $skipped skipped"
  else
    echo "$passed passed, $failed failed"
  fi
  ((failed == 0))
}

# Counts what passed, failed and was skipped, and measures how long each lane took. .ci/run includes
# this file, and sets how many seconds a run may take.
# shellcheck shell=bash disable=SC2154

passed=0
failed=0
skipped=0
timings=()
few=3     # So many tests of a lane may fail once, and pass when they run again.
grace=30  # Seconds in which a lane that is stopped may clean up.
story=$(mktemp)  # Lists failures and skips, for the end of the output.
trap 'rm -f "$story"' EXIT

# took NAME BEGIN records how long a lane has taken. It also prints the time immediately, because
# the run may be stopped before its end.
took() {
  timings+=("$(printf '%5d s  %s' $((SECONDS - $2)) "$1")")
  echo "##### ${timings[-1]}"
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

# lane NAME COMMAND... counts the command as one check. If it fails, the messages of compilers,
# linters and ./dev are also repeated at the end.
lane() {
  local begin=$SECONDS status=0 said copy reader
  said=$(mktemp)
  echo "##### $1"
  exec {copy}> >(tee "$said")
  reader=$!
  in_time "${@:2}" >&"$copy" 2>&1 || status=1
  exec {copy}>&-
  wait "$reader"
  if ((status == 0)); then
    ((++passed))
  else
    ((++failed))
    echo "##### failed: $1" >>"$story"
    grep -E '(error|warning): |^dev: ' "$said" | head -n 50 >>"$story"
  fi
  rm "$said"
  took "$1" "$begin"
}

# skip WHAT REASON reports a skip. A skip that .ci/allowed_skips does not list is a failure.
skip() {
  if grep -qxE -f <(grep -v -e '^#' -e '^$' .ci/allowed_skips) <<<"$1: $2"; then
    ((++skipped))
    echo "##### skipped: $1: $2" >>"$story"
  else
    ((++failed))
    echo "##### failed: skipped, and .ci/allowed_skips does not allow it: $1: $2" >>"$story"
  fi
}

# attribute NAME FILE prints a number from the head of a JUnit file.
attribute() { sed -n "0,/^[[:space:]]*$1=\"\([0-9]*\)\".*/s//\1/p" "$2"; }

# pass_again RESULTS COMMAND... runs the tests again that failed, one after the other, and succeeds if
# they pass. A busy machine may delay the processes of a test too much. What a sanitizer has found is
# no matter of time, and neither are many failures.
pass_again() {
  local again count
  count=$(attribute failures "$1")
  ((count > 0 && count <= few && !was_cut_off)) || return
  ! grep -qE 'SUMMARY: [A-Za-z]*Sanitizer' "$1" || return
  again=$(mktemp)
  in_time "${@:2}" --output-junit "$again" --rerun-failed -j 1 || true
  [[ $(attribute tests "$again") == "$count" && $(attribute failures "$again") == 0 ]]
  count=$?
  rm -f "$again"
  return "$count"
}

# test_lane NAME COMMAND... runs a command, and counts the tests that ctest ran in this command. It
# returns the status of the command.
test_lane() {
  local results begin=$SECONDS status=0 tests=0 failures=0 idle=0 failed_before=$failed
  local line kind what why fate=failed
  results=$(mktemp)
  echo "##### $1"
  in_time "${@:2}" --output-junit "$results" --test-output-size-passed 1000000 || status=$?
  if [[ -s $results ]]; then
    tests=$(attribute tests "$results")
    failures=$(attribute failures "$results")
    idle=$(($(attribute skipped "$results") + $(attribute disabled "$results")))
    if pass_again "$results" "${@:2}"; then
      fate=unsteady
      failures=0
      status=0
    fi
    while IFS= read -r line; do
      IFS=$'\t' read -r kind what why <<<"$line"
      case $kind in
        skipped) skip "$1: $what" "$why" ;;
        failed) echo "##### $fate: $what of $1" >>"$story" ;;
        *) echo "$line" >>"$story" ;;
      esac
    done < <(awk -f .ci/results.awk "$results")
  fi
  rm -f "$results"
  ((failed += failures))
  if ((was_cut_off)); then
    skip "$1" "cut off, as the run has had its $((seconds / 60)) minutes"
  elif ((status != 0 && failures == 0)); then
    # A failure outside of the tests, such as a failed build, counts as one failure.
    ((++failed))
    echo "##### failed: $1, before or after its tests" >>"$story"
  fi
  ((passed += tests - failures - idle))
  took "$1" "$begin"
  ((failed == failed_before))
}

# verdict prints the result at the end, because a log may keep only the end of a long output.
verdict() {
  cat "$story"
  printf '%s\n' "${timings[@]}"
  if ((skipped > 0)); then
    echo "$passed passed, $failed failed, $skipped skipped"
  else
    echo "$passed passed, $failed failed"
  fi
  ((failed == 0))
}

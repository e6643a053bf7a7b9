# What has passed, failed and was skipped, and how long it took. Sourced by .ci/run, which says how
# many seconds a run may take.
# shellcheck shell=bash disable=SC2154

passed=0
failed=0
skipped=0
timings=()
grace=30  # Seconds for what is cut off to tidy up.
story=$(mktemp)  # What failed and was skipped, for the end of the output.
trap 'rm -f "$story"' EXIT

# took NAME BEGIN notes how long a lane has taken, and says so at once too: a run may be cut off.
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

# end_session ID ends what is left of a session, once it has had time to tidy up: a cluster's
# processes have sessions of their own, and whoever has started it takes it down.
end_session() {
  local pids tries
  for ((tries = 0; tries < grace; ++tries)); do
    [[ -n $(in_session "$1") ]] || return 0
    sleep 1
  done
  mapfile -t pids < <(in_session "$1")
  ((${#pids[@]} == 0)) || kill -KILL "${pids[@]}" 2>/dev/null || true
}

# in_time COMMAND... ends what would go on beyond the run's time, and notes in was_cut_off that it
# has.
in_time() {
  local child status=0
  # A session of its own, as ctest gives each test a process group of its own.
  setsid timeout --kill-after=60 $((seconds > SECONDS ? seconds - SECONDS : 1)) "$@" &
  child=$!
  # shellcheck disable=SC2064  # It is this child.
  trap "kill $child; end_session $child; exit 130" INT TERM
  wait "$child" || status=$?
  trap - INT TERM
  was_cut_off=$(((status == 124 || status == 137) && SECONDS >= seconds))
  ((was_cut_off == 0)) || end_session "$child"
  return "$status"
}

# lane NAME COMMAND... counts the command as one check. Where it fails, what compilers, linters and
# ./dev say of it is told at the end as well.
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

# skip WHAT REASON: one that .ci/allowed_skips does not have is a failure.
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

# test_lane NAME COMMAND... counts the tests that the command's ctest ran. It fails as the command
# does.
test_lane() {
  local results begin=$SECONDS status=0 tests=0 failures=0 idle=0 failed_before=$failed
  local line kind what why
  results=$(mktemp)
  echo "##### $1"
  in_time "${@:2}" --output-junit "$results" --test-output-size-passed 1000000 || status=$?
  if [[ -s $results ]]; then
    tests=$(attribute tests "$results")
    failures=$(attribute failures "$results")
    idle=$(($(attribute skipped "$results") + $(attribute disabled "$results")))
    while IFS= read -r line; do
      IFS=$'\t' read -r kind what why <<<"$line"
      case $kind in
        skipped) skip "$1: $what" "$why" ;;
        failed) echo "##### failed: $what of $1" >>"$story" ;;
        *) echo "$line" >>"$story" ;;
      esac
    done < <(awk -f .ci/results.awk "$results")
  fi
  rm -f "$results"
  ((failed += failures))
  if ((was_cut_off)); then
    skip "$1" "cut off, as the run has had its $((seconds / 60)) minutes"
  elif ((status != 0 && failures == 0)); then
    # What failed without a test to its name, such as a build, counts as one.
    ((++failed))
    echo "##### failed: $1, before or after its tests" >>"$story"
  fi
  ((passed += tests - failures - idle))
  took "$1" "$begin"
  ((failed == failed_before))
}

# verdict prints once more at the end what counts: of a long run's output, the end may be all that
# is kept.
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

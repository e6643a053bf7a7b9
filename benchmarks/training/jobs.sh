# Runs jobs of two workers that train on all data, and records their results, for run.sh and
# epochs.sh. These scripts set `work`, `accuracy`, and what systems.sh needs. The results,
# one line for each run, go into files $work/NAME.WHAT.MODEL.
# shellcheck shell=bash

# note NAME WHAT MODEL VALUE: records a value.
note() { echo "$4" >>"$work/$1.$2.$3"; }

# value LINE NAME: prints a value of a line of JSON.
value() { sed -n "s/.*\"$2\":\"\{0,1\}\([^\",}]*\).*/\1/p" <<<"$1"; }

fail() { echo "${titles[$1]}: a run failed, or took more than $limit s; see $errors" >&2; }

seconds_since() { awk -v begin="$1" -v end="$EPOCHREALTIME" 'BEGIN {print end - begin}'; }

reaches_accuracy() {
  awk -v reached="$(value "$1" test_accuracy)" -v wanted=$accuracy '
    BEGIN {exit !(reached >= wanted)}'
}

# note_job NAME MODEL BEGIN [JOB]: reads the output of a job from standard input, and records the
# results of one model's run on all data. A rota job is measured from outside, and note_job stops
# reading when more steps would add nothing. A peer's job ends on its own, and reports its memory.
note_job() {
  local name=$1 model=$2 begin=$3 job=${4:-} line
  while read -r line; do
    case $line in
      *'"first_step"'*)
        note "$name" start "$model" "$(seconds_since "$begin")"
        [[ -z $job || -n ${to_accuracy:-} ]] && continue
        [[ $model == mlp ]] || note "$name" memory "$model" "$(memory_of "$job")"
        break
        ;;
      *'"event":"epoch"'*)
        [[ -n $job ]] || note "$name" memory "$model" "$(value "$line" memory)"
        [[ -n ${to_accuracy:-} ]] && reaches_accuracy "$line" || continue
        note "$name" seconds "$model" "$(value "$line" train_seconds)"
        note "$name" epochs "$model" "$(value "$line" epoch)"
        [[ -z $job ]] || note "$name" memory "$model" "$(memory_of "$job")"
        [[ -z $job ]] || break
        ;;
    esac
  done
}

# memory_of PID: prints the largest peak memory, in bytes, of a process among PID and its
# descendants.
memory_of() {
  local children child
  read -r children <"/proc/$1/task/$1/children" || true
  {
    sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$1/status" | awk '{print 1024 * $1}'
    for child in $children; do memory_of "$child"; done
  } | sort -n | tail -1
}

# run_job NAME MODEL EPOCHS: trains with two workers on all data. A peer evaluates if to_accuracy is
# set. $seed decides the first weights and the order of the data.
run_job() {
  local name=$1 model=$2 epochs=$3 begin=$EPOCHREALTIME job
  if [[ $name != rota ]]; then
    together "$name" --models "$model=60000" --data "$data" --epochs "$epochs" --seed "$seed" \
      ${to_accuracy:+--until $accuracy} | note_job "$name" "$model" "$begin" || fail "$name"
    return
  fi
  coproc JOB { mnist "$model" "$data" "$epochs" "$bin/rotarun" -np 2; }
  job=$JOB_PID
  note_job rota "$model" "$begin" "$job" <&"${JOB[0]}"
  kill "$job" 2>/dev/null || true
  wait "$job" || true
}

# The quantile of Student's t for 95 % confidence intervals, by the expansion of Cornish and Fisher.
# shellcheck disable=SC2016  # The text is an awk program.
student='function quantile(degrees,   z) {
  z = 1.96
  return z + (z^3 + z) / (4 * degrees) + (5 * z^5 + 16 * z^3 + 3 * z) / (96 * degrees^2)
}'

# mean_with_interval: prints the mean and its interval for the numbers on standard input, as in "7.4
# ± 0.3".
mean_with_interval() {
  awk "$student"'{sum += $1; squares += $1 * $1} END {
    mean = sum / NR
    if (NR < 2) {printf "%.1f", mean; exit}
    deviation = sqrt((squares - NR * mean * mean) / (NR - 1))
    printf "%.1f ± %.1f", mean, quantile(NR - 1) * deviation / sqrt(NR)}'
}

# difference_with_interval FILE OTHER: prints by how much the mean of FILE's numbers is larger, with
# Welch's interval: "0.4 ± 0.8".
difference_with_interval() {
  awk "$student"'FNR == 1 {++i} {++n[i]; sum[i] += $1; squares[i] += $1 * $1}
    function variance(i) {return (squares[i] / n[i] - (sum[i] / n[i])^2) / (n[i] - 1)}
    END {
      a = variance(1)
      b = variance(2)
      degrees = a + b > 0 ? (a + b)^2 / (a^2 / (n[1] - 1) + b^2 / (n[2] - 1)) : 1
      printf "%.1f ± %.1f", sum[1] / n[1] - sum[2] / n[2], quantile(degrees) * sqrt(a + b)}' "$@"
}

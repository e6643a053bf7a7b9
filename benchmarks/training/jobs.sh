# Jobs of two workers that train on all of the data, and what is noted of them: for run.sh and
# epochs.sh, which set `work` and `accuracy` beside what systems.sh wants. Values, a line a run, are
# in files $work/NAME.WHAT.MODEL.
# shellcheck shell=bash

# note NAME WHAT MODEL VALUE
note() { echo "$4" >>"$work/$1.$2.$3"; }

# A value of a line of JSON, by its name.
value() { sed -n "s/.*\"$2\":\"\{0,1\}\([^\",}]*\).*/\1/p" <<<"$1"; }

fail() { echo "${titles[$1]}: a run failed, or took more than $limit s; see $errors" >&2; }

seconds_since() { awk -v begin="$1" -v end="$EPOCHREALTIME" 'BEGIN {print end - begin}'; }

reaches_accuracy() {
  awk -v reached="$(value "$1" test_accuracy)" -v wanted=$accuracy '
    BEGIN {exit !(reached >= wanted)}'
}

# What a job says on the standard input, to notes of one model's run on all of the data.
# note_job NAME MODEL BEGIN [JOB]: a job of rota's is looked at, and stopped where the next step
# would tell no more; a peer's ends by itself, and says what memory it has had.
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

# The most that one process of a tree has had in memory, in bytes.
memory_of() {
  local children child
  read -r children <"/proc/$1/task/$1/children" || true
  {
    sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$1/status" | awk '{print 1024 * $1}'
    for child in $children; do memory_of "$child"; done
  } | sort -n | tail -1
}

# run_job NAME MODEL EPOCHS: two workers, on all of the data. A peer evaluates where that is wanted.
# $seed decides the first weights and the order of the data.
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

# The quantile of Student's t for intervals that have the true value in them 95 times of 100, by
# Cornish and Fisher.
# shellcheck disable=SC2016  # It is awk's.
student='function quantile(degrees,   z) {
  z = 1.96
  return z + (z^3 + z) / (4 * degrees) + (5 * z^5 + 16 * z^3 + 3 * z) / (96 * degrees^2)
}'

# mean_with_interval: of the standard input's numbers, "7.4 ± 0.3".
mean_with_interval() {
  awk "$student"'{sum += $1; squares += $1 * $1} END {
    mean = sum / NR
    if (NR < 2) {printf "%.1f", mean; exit}
    deviation = sqrt((squares - NR * mean * mean) / (NR - 1))
    printf "%.1f ± %.1f", mean, quantile(NR - 1) * deviation / sqrt(NR)}'
}

# difference_with_interval FILE OTHER: how much larger the mean of FILE's numbers is, "0.4 ± 0.8";
# by Welch.
difference_with_interval() {
  awk "$student"'FNR == 1 {++i} {++n[i]; sum[i] += $1; squares[i] += $1 * $1}
    function variance(i) {return (squares[i] / n[i] - (sum[i] / n[i])^2) / (n[i] - 1)}
    END {
      a = variance(1)
      b = variance(2)
      degrees = a + b > 0 ? (a + b)^2 / (a^2 / (n[1] - 1) + b^2 / (n[2] - 1)) : 1
      printf "%.1f ± %.1f", sum[1] / n[1] - sum[2] / n[2], quantile(degrees) * sqrt(a + b)}' "$@"
}

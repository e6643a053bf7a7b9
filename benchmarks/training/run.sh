#!/usr/bin/env bash
# Trains the example's models by rota, PyTorch and TensorFlow in turn, each once a round, so that a
# machine that is slow for a while is slow for all: two workers of one thread on two cores; the same
# two without communication; and one alone.
#
# usage: run.sh BIN PEERS DATA OUT COMMAND [ROUNDS [MODEL...]]
# BIN has the programs, PEERS is the Python environment of the peers, DATA has the MNIST files. OUT
# gets training.md, which says that it was made by COMMAND, and training.errors. Peers that are not
# installed are named, and left out.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
(($# >= 5)) || {
  sed -n 's/^# usage: /usage: /p' "$0" >&2
  exit 2
}
bin=$(realpath "$1") python=$2/bin/python data=$(realpath "$3") out=$4 command=$5
programs=$here/../peers
mkdir -p "$out"
work=$(mktemp -d)
parts=$work/parts errors=$out/training.errors
: >"$errors"
trap 'rm -rf "$work"' EXIT
# shellcheck source=systems.sh
source "$here/systems.sh"
# shellcheck source=first_images.sh
source "$here/first_images.sh"
# shellcheck source=report.sh
source "$here/report.sh"

seed=1 rounds=${6:-3} rounds_to_accuracy=5 accuracy=0.98 most_epochs=12
models=("${@:7}")
((${#models[@]})) || models=(mlp seed lenet)
# How many images an epoch of a round has: what takes a second or so. The second epoch is measured.
declare -A images=([mlp]=10000 [seed]=30000 [lenet]=4000)

read -r load _ </proc/loadavg
((${load%.*} == 0)) || echo "this machine is busy (load $load): what follows is of little worth" >&2
read -ra cores <<<"$(for ((core = 0; core < $(getconf _NPROCESSORS_CONF); ++core)); do
  ! taskset -c $core true 2>/dev/null || echo $core
done | head -2 | xargs)"
((${#cores[@]} == 2)) || {
  echo "run.sh: two workers take two cores, and there is one" >&2
  exit 1
}

# A model's part of the training set, and some of the test set: rota's example takes whole folders.
for model in "${models[@]}"; do first_images "$data" "${images[$model]}" 1000 "$parts/$model"; done
of_parts=$(for model in "${models[@]}"; do echo "$model=${images[$model]}"; done | paste -sd,)

# Values, a line a round, are in files NAME.WHAT.MODEL.
note() { echo "$4" >>"$work/$1.$2.$3"; }

# A value of a line of JSON, by its name.
value() { sed -n "s/.*\"$2\":\"\{0,1\}\([^\",}]*\).*/\1/p" <<<"$1"; }

# Notes the images a second of second epochs, those of workers that know of no other added up.
note_rates() {
  local model rate
  while read -r model rate; do note "$1" "$2" "$model" "$rate"; done < <(
    sed -n 's/.*"model":"\([a-z]*\)".*"epoch":2,.*"images_per_second":\([0-9.]*\).*/\1 \2/p' |
      awk '{sum[$1] += $2} END {for (model in sum) print model, sum[model]}')
}

run_round() {
  local name=$1 core arguments=(--models "$of_parts" --data "$data")
  together "$name" "${arguments[@]}" | note_rates "$name" together || fail "$name"
  { for core in "${cores[@]}"; do alone "$name" "$core" "${arguments[@]}" & done && wait; } |
    note_rates "$name" apart || fail "$name"
  alone "$name" "${cores[0]}" "${arguments[@]}" | note_rates "$name" alone || fail "$name"
}

fail() { echo "${titles[$1]}: a run failed, or took more than $limit s; see $errors" >&2; }

seconds_since() { awk -v begin="$1" -v end="$EPOCHREALTIME" 'BEGIN {print end - begin}'; }

reaches_accuracy() {
  awk -v reached="$(value "$1" test_accuracy)" -v wanted=$accuracy 'BEGIN {exit !(reached >= wanted)}'
}

# What a job says on the standard input, to notes of one model's run on all of the data.
# note_job NAME MODEL BEGIN [JOB]: a job of rota's is looked at, and stopped where the next step would
# tell no more; a peer's ends by itself, and says what memory it has had.
note_job() {
  local name=$1 model=$2 begin=$3 job=${4:-} line
  while read -r line; do
    case $line in
      *'"first_step"'*)
        note "$name" start "$model" "$(seconds_since "$begin")"
        [[ -z $job ]] || note "$name" memory "$model" "$(memory_of "$job")"
        [[ -z $job || -n ${to_accuracy:-} ]] || break
        ;;
      *'"event":"epoch"'*)
        [[ -n $job ]] || note "$name" memory "$model" "$(value "$line" memory)"
        [[ -n ${to_accuracy:-} ]] && reaches_accuracy "$line" || continue
        note "$name" seconds "$model" "$(value "$line" train_seconds)"
        note "$name" epochs "$model" "$(value "$line" epoch)"
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

names=()
for name in rota pytorch tensorflow; do ! is_there $name || names+=("$name"); done
name_missing
for ((round = 1; round <= rounds; ++round)); do
  for name in "${names[@]}"; do run_round "$name"; done
  # Rota's starts take so little that each model has its own.
  for model in "${models[@]}"; do run_job rota "$model" 1; done
done
# After how many epochs is a matter of luck, and so each has as many seeds.
for ((seed = 1; seed <= rounds_to_accuracy; ++seed)); do
  [[ " ${models[*]} " == *' mlp '* ]] || break
  for name in "${names[@]}"; do to_accuracy=1 run_job "$name" mlp $most_epochs; done
done
make_report >"$out/training.md"
cat "$out/training.md"

#!/usr/bin/env bash
# Trains the example's models with rota, PyTorch and TensorFlow in turn, each once a round. So a
# machine that is slow for a while slows all of them. Measures two workers of one thread on two
# cores, the same two without communication, and one worker alone.
#
# usage: run.sh BIN PEERS DATA OUT COMMAND [ROUNDS [MODEL...]]
# BIN has the programs, PEERS is the Python environment of the peers, DATA has the MNIST files. OUT
# gets training.md, which names COMMAND as its origin, and training.errors. Peers that are not
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
# shellcheck source=../pages/head.sh
source "$here/../pages/head.sh"
# shellcheck source=systems.sh
source "$here/systems.sh"
# shellcheck source=jobs.sh
source "$here/jobs.sh"
# shellcheck source=first_images.sh
source "$here/first_images.sh"
# shellcheck source=report.sh
source "$here/report.sh"

seed=1 rounds=${6:-3} rounds_to_accuracy=20 accuracy=0.98 most_epochs=20
models=("${@:7}")
((${#models[@]})) || models=(mlp seed lenet)
# The number of images in an epoch of a round: with these, an epoch takes about a second. The second
# epoch is measured.
declare -A images=([mlp]=10000 [seed]=30000 [lenet]=4000)

begin_page
read -ra cores <<<"$(for ((core = 0; core < $(getconf _NPROCESSORS_CONF); ++core)); do
  ! taskset -c $core true 2>/dev/null || echo $core
done | head -2 | xargs)"
((${#cores[@]} == 2)) || {
  echo "run.sh: two workers take two cores, and there is one" >&2
  exit 1
}

# Makes a folder with a part of the data set for each model, because rota's example takes all images
# of a folder.
for model in "${models[@]}"; do first_images "$data" "${images[$model]}" 1000 "$parts/$model"; done
of_parts=$(for model in "${models[@]}"; do echo "$model=${images[$model]}"; done | paste -sd,)

# apart NAME [ARGUMENT...]: runs two independent workers at the same time, each on its own core.
apart() {
  local core jobs=()
  for core in "${cores[@]}"; do
    alone "$1" "$core" "${@:2}" &
    jobs+=($!)
  done
  wait_each "${jobs[@]}"
}

# Records the images a second of the second epochs. The rates of independent workers are added.
note_rates() {
  local model rate
  while read -r model rate; do note "$1" "$2" "$model" "$rate"; done < <(
    sed -n 's/.*"model":"\([a-z]*\)".*"epoch":2,.*"images_per_second":\([0-9.]*\).*/\1 \2/p' |
      awk '{sum[$1] += $2} END {for (model in sum) print model, sum[model]}')
}

run_round() {
  local name=$1 arguments=(--models "$of_parts" --data "$data")
  together "$name" "${arguments[@]}" | note_rates "$name" together || fail "$name"
  apart "$name" "${arguments[@]}" | note_rates "$name" apart || fail "$name"
  alone "$name" "${cores[0]}" "${arguments[@]}" | note_rates "$name" alone || fail "$name"
}

names=()
for name in rota pytorch tensorflow; do ! is_there $name || names+=("$name"); done
name_missing
for ((round = 1; round <= rounds; ++round)); do
  for name in "${names[@]}"; do run_round "$name"; done
  # rota starts so quickly that each model gets its own start.
  for model in "${models[@]}"; do run_job rota "$model" 1; done
done
# The number of epochs depends on chance, so each system trains with the same number of seeds.
for ((seed = 1; seed <= rounds_to_accuracy; ++seed)); do
  [[ " ${models[*]} " == *' mlp '* ]] || break
  for name in "${names[@]}"; do to_accuracy=1 run_job "$name" mlp $most_epochs; done
done
make_report >"$out/training.new"
mv "$out/training.new" "$out/training.md"
cat "$out/training.md"

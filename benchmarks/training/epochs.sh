#!/usr/bin/env bash
# Counts, over many seeds, the epochs until each system classifies 98 % of the MNIST test images
# correctly. A difference between systems comes from arithmetic or from chance.
#
# usage: epochs.sh BIN PEERS DATA [SEEDS [NAME...]]
# BIN has the programs, PEERS is the Python environment of the peers, DATA has the MNIST files.
# NAME: rota, pytorch, tensorflow; by default all of these that are installed. Two workers train
# mlp, as for run.sh. The load of the machine makes no difference.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
(($# >= 3)) || {
  sed -n 's/^# usage: /usage: /p' "$0" >&2
  exit 2
}
bin=$(realpath "$1") python=$2/bin/python data=$(realpath "$3") seeds=${4:-20}
# Variables that systems.sh and jobs.sh need.
# shellcheck disable=SC2034
programs=$here/../peers accuracy=0.98 to_accuracy=1 parts= models=(mlp)
names=("${@:5}")
work=$(mktemp -d)
errors=$work/errors
trap 'rm -rf "$work"' EXIT
# shellcheck source=systems.sh
source "$here/systems.sh"
# shellcheck source=jobs.sh
source "$here/jobs.sh"
limit=900 most_epochs=20
((${#names[@]})) || for name in rota pytorch tensorflow; do
  ! is_there $name || names+=("$name")
done
name_missing

for ((seed = 1; seed <= seeds; ++seed)); do
  for name in "${names[@]}"; do
    run_job "$name" mlp $most_epochs
    counted=$(sed -n "${seed}p" "$work/$name.epochs.mlp" 2>/dev/null || true)
    [[ -n $counted ]] || {
      echo "seed $seed, ${titles[$name]}: not within $most_epochs epochs, or it failed" >&2
      exit 1
    }
    echo "seed $seed, ${titles[$name]}: $counted" >&2
  done
done
echo "| | seeds | epochs to $accuracy | epochs: seeds that needed so many |"
echo '|---|---:|---:|---|'
for name in "${names[@]}"; do
  counts=$work/$name.epochs.mlp
  echo "| ${titles[$name]} | $(wc -l <"$counts") | $(mean_with_interval <"$counts")" \
    "| $(sort -n "$counts" | uniq -c | awk '{printf "%s%d: %d", sep, $2, $1; sep = ", "}') |"
done

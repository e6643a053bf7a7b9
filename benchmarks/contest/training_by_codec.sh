#!/usr/bin/env bash
# Trains LeNet on MNIST by each codec, on four hosts with slow cables: what that loses, and gains.
#
# usage: training_by_codec.sh BIN OUT COMMAND [RATE [EPOCHS [CODEC...]]]
# BIN has the programs. OUT gets codecs-training.md, which says that it was made by COMMAND.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=peers.sh
source "$here/peers.sh"
# shellcheck source=hosts.sh
source "$here/hosts.sh"
(($# >= 3)) || {
  sed -n 's/^# usage: /usage: /p' "$0" >&2
  exit 2
}
bin=$(realpath "$1") out=$2 command=$3 rate=${4:-100mbit} epochs=${5:-6}
codecs=("${@:6}")
((${#codecs[@]})) || codecs=(identity bf16 fp16 int8 int8-stochastic top-k)
goal=0.99
limit=1800
mkdir -p "$out"
make_hosts 4 "$rate"

# row_of CODEC, from the lines of a run: when the goal was first met, and where it ended.
row_of() {
  awk -v codec="$1" -v goal=$goal '
    function field(name) {
      if (!match($0, "\"" name "\":[0-9.e+-]+")) return ""
      return substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3)
    }
    /"event":"epoch"/ {
      ++epochs
      seconds = field("train_seconds")  # They add up.
      rate += field("images_per_second")
      accuracy = field("test_accuracy")
      if (!met && accuracy >= goal) { met = epochs; in_seconds = seconds }
    }
    END {
      if (!epochs) exit 1
      printf "| `%s` | %s | %s | %.2f %% | %.0f |\n", codec, met ? met : "–",
        met ? sprintf("%.1f", in_seconds) : "–", 100 * accuracy, rate / epochs
    }'
}

{
  describe codecs-training "$command"
  echo "LeNet on MNIST, four hosts that are network namespaces, $rate each way, 100 images a step on"
  echo "each, $epochs epochs. Seconds are those of training, without the tests after each epoch."
  echo
  echo "| codec | epochs to 99 % | seconds to 99 % | accuracy at the end | images/s |"
  echo '|---|---:|---:|---:|---:|'
  for codec in "${codecs[@]}"; do
    on_each "$bin/rotarun" --ports 7720-7729 --key-file "$folder/key" "$bin/mnist" --model lenet \
      --epochs "$epochs" --codec "$codec" --json | row_of "$codec"
  done
} | tee "$out/codecs-training.md"

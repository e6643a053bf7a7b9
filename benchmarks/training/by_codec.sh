#!/usr/bin/env bash
# Trains LeNet on MNIST by each codec: what is lost, and what is gained where cables are slow.
#
# usage: by_codec.sh BIN DATA OUT COMMAND [RATE [EPOCHS [CODEC...]]]
# BIN has the programs, DATA the MNIST files. OUT gets codecs-training.md, which says that it was made
# by COMMAND.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=../contest/peers.sh
source "$here/../contest/peers.sh"
# shellcheck source=../contest/hosts.sh
source "$here/../contest/hosts.sh"
# shellcheck source=first_images.sh
source "$here/first_images.sh"
(($# >= 4)) || {
  sed -n 's/^# usage: /usage: /p' "$0" >&2
  exit 2
}
bin=$(realpath "$1") data=$(realpath "$2") out=$3 command=$4 rate=${5:-100mbit} epochs=${6:-8}
codecs=("${@:7}")
((${#codecs[@]})) || codecs=(identity bf16 fp16 int8 int8-stochastic top-k)
limit=1800 goal=0.99 all=60000
mkdir -p "$out"
make_hosts 4 "$rate"
first_images "$data" 4000 400 "$folder/part"

# field NAME of each epoch's line on the standard input.
field() { sed -n "s/.*\"event\":\"epoch\".*\"$1\":\([0-9.e+-]*\).*/\1/p"; }

# By codec: images a second on the hosts, once everything is warm.
declare -A paces=()
for codec in "${codecs[@]}"; do
  paces[$codec]=$(on_each "$bin/rotarun" --ports 7720-7729 --key-file "$folder/key" "$bin/mnist" \
    --data "$folder/part" --epochs 2 --model lenet --codec "$codec" --json |
    field images_per_second | tail -1)
done

{
  describe codecs-training "$command" rota
  echo "LeNet on MNIST, four ranks, 100 images a step on each, $epochs epochs. Training gives the same"
  echo "bits over every transport, and so it ran in this host's memory. The pace is that of four hosts"
  echo "which are network namespaces, $rate each way, in the second epoch of two of 4,000 images. Seconds"
  echo "are worked out from both: epochs of 60,000 images, at that pace. Each codec has one run, of one"
  echo "seed, so a difference of an epoch or two may be luck."
  echo
  echo "| codec | epochs to 99 % | accuracy at the end | images/s | seconds to 99 % |"
  echo '|---|---:|---:|---:|---:|'
  for codec in "${codecs[@]}"; do
    timeout $limit "$bin/rotarun" -np 4 --oversubscribe "$bin/mnist" --data "$data" --model lenet \
      --epochs "$epochs" --codec "$codec" --json | field test_accuracy |
      awk -v codec="$codec" -v goal=$goal -v pace="${paces[$codec]}" -v all=$all '
        { accuracy = $1; if (!met && accuracy >= goal) met = NR }
        END {
          printf "| `%s` | %s | %.2f %% | %.0f | %s |\n", codec, met ? met : "–", 100 * accuracy,
            pace, met ? sprintf("%.0f", met * all / pace) : "–"
        }'
  done
} | tee "$out/codecs-training.md"

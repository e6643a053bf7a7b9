#!/usr/bin/env bash
# Trains LeNet on MNIST with each codec. Shows what a codec loses, and what it gains on slow cables.
#
# usage: by_codec.sh BIN DATA OUT COMMAND [RATE [EPOCHS [SEEDS [CODEC...]]]]
# BIN has the programs, DATA the MNIST files. The script writes OUT/codecs-training.md, which names
# COMMAND as its origin.
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
seeds=${7:-5}
codecs=("${@:8}")
((${#codecs[@]})) || codecs=(identity bf16 fp16 int8 int8-stochastic top-k)
limit=1800 goal=0.99 all=60000
# Settings for measuring the pace. The first epoch warms up.
images=4000 steps=10 epochs_of_pace=21
mkdir -p "$out"
begin_page
make_hosts 4 "$rate"
first_images "$data" $images 400 "$folder/part"

# field NAME: prints the field of each epoch's line on standard input.
field() { sed -n "s/.*\"event\":\"epoch\".*\"$1\":\([0-9.e+-]*\).*/\1/p"; }

# pace_of CODEC: prints the images a second on the hosts, over all epochs except the first.
pace_of() {
  on_each "$bin/rotarun" --ports 7720-7729 --key-file "$folder/key" "$bin/mnist" \
    --data "$folder/part" --epochs $epochs_of_pace --model lenet --codec "$1" --json |
    field train_seconds | awk -v images=$images '
      NR == 1 {first = $1} END {print (NR - 1) * images / ($1 - first)}'
}

# train CODEC SEED: prints the number of epochs until the goal was met (empty if it was not), and
# the accuracy at the end.
train() {
  timeout -k 30 $limit "$bin/rotarun" -np 4 --oversubscribe "$bin/mnist" --data "$data" \
    --model lenet --epochs "$epochs" --codec "$1" --seed "$2" --json | field test_accuracy |
    awk -v goal=$goal '!met && $1 >= goal {met = NR} END {print met ":" $1}'
}

# row_of CODEC PACE: prints the row of a codec. Reads the output of train() for all seeds.
row_of() {
  awk -F : -v codec="$1" -v pace="$2" -v all=$all '
    function least(a, b) {return a == "" || b < a ? b : a}
    function most(a, b) {return a == "" || b > a ? b : a}
    {accuracy += $2; worst = least(worst, $2); best = most(best, $2)}
    $1 != "" {++met; epochs += $1; first = least(first, $1); last = most(last, $1)}
    END {
      printf "| `%s` | ", codec
      if (met) printf "%.1f (%d to %d)", epochs / met, first, last
      if (met < NR) printf "%s%d of %d did not", met ? ", " : "", NR - met, NR
      printf " | %.2f %% (%.2f to %.2f)", 100 * accuracy / NR, 100 * worst, 100 * best
      printf " | %.0f | ", pace
      seconds = all / pace
      if (met < NR) print "– |"
      else printf "%.0f (%.0f to %.0f) |\n", epochs / met * seconds, first * seconds, last * seconds
    }'
}

# Measures the paces first. Counting epochs takes longer, and other work on the machine does not
# change the counts.
declare -A paces
for codec in "${codecs[@]}"; do paces[$codec]=$(pace_of "$codec"); done

rows=$(for codec in "${codecs[@]}"; do
  for ((seed = 1; seed <= seeds; ++seed)); do train "$codec" $seed; done |
    row_of "$codec" "${paces[$codec]}"
done)

# Makes the head last: it fails if the code has changed meanwhile.
{
  describe codecs-training "$command" rota
  cat <<END
LeNet trains on MNIST for $epochs epochs, on four ranks with 100 images a step each. The table has
the means of $seeds seeds, and in brackets the smallest and the largest value. Training gives the
same bits over every transport, so the epochs were counted over shared memory on this host. The rate
(images/s) was measured on four hosts, which are network namespaces with $rate each way, during
$(((epochs_of_pace - 1) * steps)) steps after $steps steps of warm-up. The seconds are computed: the
number of epochs times 60,000 images, divided by the rate. So the seconds of two codecs differ
because of their bytes and because of their epochs, and chance may explain a difference in epochs.

| codec | epochs to 99 % | accuracy at the end | images/s | seconds to 99 % |
|---|---|---:|---:|---:|
$rows
END
} >"$out/codecs-training.new"
mv "$out/codecs-training.new" "$out/codecs-training.md"
cat "$out/codecs-training.md"

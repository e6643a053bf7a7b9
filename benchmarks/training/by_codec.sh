#!/usr/bin/env bash
# Trains LeNet on MNIST by each codec: what is lost, and what is gained where cables are slow.
#
# usage: by_codec.sh BIN DATA OUT COMMAND [RATE [EPOCHS [SEEDS [CODEC...]]]]
# BIN has the programs, DATA the MNIST files. OUT gets codecs-training.md, which says that it was
# made by COMMAND.
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
# Of the pace: the first epoch warms up.
images=4000 steps=10 epochs_of_pace=21
mkdir -p "$out"
begin_page codecs-training
make_hosts 4 "$rate"
first_images "$data" $images 400 "$folder/part"

# field NAME of each epoch's line on the standard input.
field() { sed -n "s/.*\"event\":\"epoch\".*\"$1\":\([0-9.e+-]*\).*/\1/p"; }

# pace_of CODEC: images a second on the hosts, of all epochs but the first.
pace_of() {
  on_each "$bin/rotarun" --ports 7720-7729 --key-file "$folder/key" "$bin/mnist" \
    --data "$folder/part" --epochs $epochs_of_pace --model lenet --codec "$1" --json |
    field train_seconds | awk -v images=$images '
      NR == 1 {first = $1} END {print (NR - 1) * images / ($1 - first)}'
}

# train CODEC SEED prints after how many epochs the goal was met, or else nothing, and the accuracy
# at the end.
train() {
  timeout $limit "$bin/rotarun" -np 4 --oversubscribe "$bin/mnist" --data "$data" --model lenet \
    --epochs "$epochs" --codec "$1" --seed "$2" --json | field test_accuracy |
    awk -v goal=$goal '!met && $1 >= goal {met = NR} END {print met ":" $1}'
}

# row_of CODEC PACE: of all seeds that train() has told on the standard input.
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

# Paces first: what counts epochs does not mind other work beside it, and takes longer.
declare -A paces
for codec in "${codecs[@]}"; do paces[$codec]=$(pace_of "$codec"); done

rows=$(for codec in "${codecs[@]}"; do
  for ((seed = 1; seed <= seeds; ++seed)); do train "$codec" $seed; done |
    row_of "$codec" "${paces[$codec]}"
done)

# The head last: it fails where the sources have changed meanwhile.
{
  describe codecs-training "$command" rota
  cat <<END
LeNet on MNIST, four ranks, 100 images a step on each, $epochs epochs, $seeds seeds: means, and the
least to the most. Training gives the same bits over every transport, and so epochs were counted in
this host's memory. The pace is that of four hosts which are network namespaces, $rate each way,
in $(((epochs_of_pace - 1) * steps)) steps after $steps. Seconds are worked out from both: epochs of
60,000 images, at that pace. So they differ by bytes and by epochs, and of the latter a part may be
luck.

| codec | epochs to 99 % | accuracy at the end | images/s | seconds to 99 % |
|---|---|---:|---:|---:|
$rows
END
} >"$out/codecs-training.new"
mv "$out/codecs-training.new" "$out/codecs-training.md"
cat "$out/codecs-training.md"

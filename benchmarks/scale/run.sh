#!/usr/bin/env bash
# Measures how efficient training steps are on 1 to 16 ranks, on one host and on hosts that are
# network namespaces. Runs rota and its peers in turn, each once a round. Measures too how long 256
# ranks on 32 hosts take to their first sum, and what predictions for large worlds take. Makes a
# page of tables and a picture. Then the page holds predictions against measurements. Its last part
# is predicted: worlds that are larger than any machine here.
#
# usage: run.sh BIN OUT COMMAND [ROUNDS [whole | few]]
# BIN has the programs. OUT gets scaling.jsonl, scaling.md and scaling.svg, and the files of
# validate.sh. The page names COMMAND as its origin. Without root there are no namespaces: then the
# page has measurements on one host alone, and says so. With few, it has short ones of one model, on
# one and two ranks of one host and on two hosts, and few answers: a test runs this script whole.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=../contest/peers.sh
source "$here/../contest/peers.sh"
# shellcheck source=../pages/rounds.sh
source "$here/../pages/rounds.sh"

usage() {
  sed -n 's/^# usage: /usage: /p' "$0" >&2
  exit 2
}

(($# >= 3)) || usage
bin=$(realpath "$1") out=$2 command=$3 rounds=${4:-3} points=${5:-whole}
# The models, their scalings, the ranks on one host, and how long each job runs. The numbers of
# hosts, the number of hosts with two ranks each, and the hosts and the ranks of each that join. The
# hosts of a prediction, arguments of the answers, and the seconds that one run may take.
case $points in
  whole)
    models=(lenet mlp) scalings=(weak strong) ranks_here=(1 2 4 8 16)
    lengths=(--steps 5 --rounds 5) host_counts=(1 2 4 8) paired=8 joining=(32 8)
    predicted=(512 10000) answers=() limit=180
    ;;
  few)
    models=(lenet) scalings=(weak) ranks_here=(1 2)
    lengths=(--steps 1 --rounds 1) host_counts=(2) paired=2 joining=(2 2)
    predicted=(512) answers=(--few) limit=20
    ;;
  *) usage ;;
esac
prediction_limit=180  # Seconds that one prediction may take.
rows=$out/scaling.jsonl
about_hosts=  # Sentences of the page, if hosts are measured.
left_out=     # Sentences of the page about what failed or cannot be measured.
declare -A took_part=()
declare -A given_up=()  # Contestants that have failed, if only few points are measured.
mkdir -p "$out"
: >"$rows"
begin_page
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# contest HOSTS RANKS CONTESTANTS ARGUMENT...: runs each contestant once a round, and adds its rows.
# If a contestant fails or takes too long, the page names it but has no rows of it: ratios need
# every round. With few points, it then takes no further part: each of its runs might hang.
contest() {
  local count=$1 ranks=$2 name round
  local -A failed=()
  for name in $3; do rm -f "$work/rows.$name"; done
  for ((round = 1; round <= rounds; ++round)); do
    for name in $3; do
      [[ ! -v failed[$name] && ! -v given_up[$name] ]] && is_there "$name" || continue
      start "$name" "$count" "$ranks" "${@:4}" >>"$work/rows.$name" || failed[$name]=1
    done
  done
  for name in $3; do
    [[ ! -v missing[$name] && ! -v given_up[$name] ]] || continue
    took_part[${name%_pairs}]=1
    if [[ -v failed[$name] ]]; then
      left_out+=" ${titles[$name]} failed on $ranks ranks at ${*:4}, or took more than $limit s,"
      left_out+=" and is left out there."
      if [[ $points == few ]]; then
        given_up[$name]=1
        left_out+=" It takes no further part, because only few points are measured."
      fi
    else
      cat "$work/rows.$name" >>"$rows"
    fi
  done
}

# start NAME HOSTS RANKS ARGUMENT...: only rota knows by itself how many hosts its job has.
start() {
  local hosts_of_peer=()
  [[ $1 == rota* ]] || hosts_of_peer=(--hosts "$2")
  "start_$1" "$2" "$3" scale "${@:4}" "${hosts_of_peer[@]}"
}

# each_model CONTEST...: runs the contest for each model, weak and strong.
each_model() {
  local model scaling
  for model in "${models[@]}"; do
    for scaling in "${scalings[@]}"; do "$@" --model "$model" --scaling "$scaling"; done
  done
}

measure_one_host() {
  start_rota() { run_rota "${@:2}"; }
  start_openmpi() { run_openmpi "${@:2}"; }
  start_gloo() { run_gloo "${@:2}"; }
  local ranks
  for ranks in "${ranks_here[@]}"; do
    each_model contest 1 "$ranks" "rota openmpi gloo" "${lengths[@]}"
  done
  # Real steps need a core for each rank. Peers have no such steps: they know no models.
  for ranks in "${ranks_here[@]}"; do
    ((ranks > $(nproc))) || each_model contest 1 "$ranks" rota --real "${lengths[@]}"
  done
}

# With one rank on each host, the contestants are those of hosts.sh. The functions for pairs of
# hosts.sh run two ranks on each host; those of rota compare plans, so rota is started directly.
define_starts_on_hosts() {
  start_rota() { on_first "$1" 1 run_rota "$1" "${@:3}"; }
  start_openmpi() { on_first "$1" 1 run_openmpi "$1" "${@:3}"; }
  start_gloo() { on_first "$1" 1 run_gloo "$1" "${@:3}"; }
  start_rota_pairs() { on_first "$1" 2 run_rota "$1" "${@:3}"; }
  start_openmpi_pairs() { on_first "$1" 2 run_openmpi "$1" "${@:3}"; }
  start_gloo_pairs() { on_first "$1" 2 run_gloo_pairs "$1" "${@:3}"; }
}

# Measures everything that needs hosts, or notes why it is left out.
measure_if_hosts() {
  if ((EUID != 0)); then
    left_out+=" Hosts, and the time until ranks on them have joined, are left out: only root can"
    left_out+=" make the network namespaces that are the hosts."
    return
  fi
  # shellcheck source=../contest/hosts.sh
  source "$here/../contest/hosts.sh"
  define_starts_on_hosts
  about_hosts=" Hosts are network namespaces, with one rank on each, or with two if there are"
  about_hosts+=" $((2 * paired)) ranks. On hosts, Open MPI runs with \`btl=tcp,self\`, and with vader too if two"
  about_hosts+=" ranks share a host. The kernel moves the bytes of the cables on the cores of the"
  about_hosts+=" ranks, so computing and cables slow each other in the tables named *trained* of"
  about_hosts+=" hosts. The cables let 128 kB go ahead of their rate, which *bytes allow* does not"
  about_hosts+=" count."
  make_hosts "${joining[0]}" 1gbit
  if [[ $points == few ]]; then
    measure_hosts 1000 1 1
  else
    measure_hosts 1000 5 5
    measure_hosts 100 2 3
  fi
  measure_join
}

# measure_hosts MEGABITS STEPS ROUNDS: sums at 100 Mbit/s take seconds, so there are fewer of them.
# Real steps need a core for each rank, which shares it with the cables.
measure_hosts() {
  local count
  limit_rate "$1mbit"
  for count in "${host_counts[@]}"; do
    each_model contest "$count" "$count" "rota openmpi gloo" --rate "$1" --steps "$2" --rounds "$3"
  done
  each_model contest "$paired" "$((2 * paired))" "rota_pairs openmpi_pairs gloo_pairs" \
    --rate "$1" --steps "$2" --rounds "$3"
  for ((count = 2; count <= $(nproc) && count <= host_counts[-1]; count *= 2)); do
    each_model contest "$count" "$count" rota --real --rate "$1" --steps "$2" --rounds "$3"
  done
}

# Notes the time from the command until all ranks of a job have the sum of one float.
measure_join() {
  local round taken
  limit_rate 1000mbit
  for ((round = 0; round < rounds; ++round)); do
    if taken=$(on_first "${joining[@]}" on_each "$bin/rotarun" --ports 7720-7799 --key-file "$folder/key" \
      "$bin/rota-bench" all-reduce --since "$EPOCHREALTIME"); then
      printf '{"what": "first sum", "value": %s}\n' "$taken" | note join
    else
      left_out+=" In round $((round + 1)), the $((joining[0] * joining[1])) ranks failed,"
      left_out+=" or took more than $limit s."
    fi
  done
}

# Makes rows of the last object that predict --cost --json prints.
cost_to_rows='s/^{"event":"cost","seconds":\([^,]*\),"peak_memory_bytes":\([^}]*\)}$/'
cost_to_rows+='{"what": "seconds", "value": \1}\n{"what": "bytes", "value": \2}/p'

# Notes what it takes to predict training by a ring on many hosts.
measure_predictions() {
  local hosts round
  for hosts in "${predicted[@]}"; do
    for ((round = 0; round < rounds; ++round)); do
      timeout -k 30 $prediction_limit "$bin/rota-bench" predict --workload resnet-101 --hosts "$hosts" \
        --plan ring --rate 100G --latency 20us --cost --json | sed -n "$cost_to_rows" |
        note "predict-$hosts" && continue
      left_out+=" Predicting training on $hosts hosts failed, or took more than"
      left_out+=" $prediction_limit s."
      break
    done
  done
}

measure_one_host
measure_predictions
measure_if_hosts
name_missing
# Predictions that are not good enough are on the page, too.
"$here/validate.sh" "$bin" "$out" "$points" >/dev/null || echo "validate.sh ended with $?" >&2
[[ -s $out/validation.md ]] || {
  echo 'The validation of predictions failed, and is left out.' >"$out/validation.md"
  rm -rf "$out/calibrations"
}

# Says how the steps are paced.
explain() {
  paragraph <<TEXT
The steps are those of the example's models, but their computing is paced: a rank sleeps while it
would compute, and gives its gradients away when a backward pass would have them. So ranks that
share the $(nproc) cores of this machine do not slow each other, and the page shows what
communication costs. What communication takes of a core does not slow the computing either.
A rank computes as fast as one worker of [training](training.md) did when that page was measured.
The layers share the time of a step by their multiplications.
TEXT
  paragraph <<TEXT
With weak scaling, each rank has a batch of 100 images. With strong scaling, all ranks share a batch
of 240. Efficiency is the time of computing alone, divided by the time of a step. Steps, computing
alone and communication alone alternate in each run, as in \`rota-bench overlap\`. The tables have
the medians of $rounds rounds, in which the libraries run in turn, and the least and the most of
them. All libraries have rota's default buckets. Open MPI and Gloo sum them in a thread that makes
blocking calls, as Horovod and DDP do. Gloo's fastest algorithm is chosen for each bucket.
TEXT
  paragraph <<TEXT
In the tables named *trained*, the ranks compute, and each has a core of its own. There, computing
alone is slower than the pace above if the cores share a cache or their memory. With strong scaling,
efficiency is the time of one rank for the whole batch, divided by the number of ranks and by the
time of a step: a small batch takes longer for each image.
TEXT
  paragraph <<TEXT
*Bytes allow* is the efficiency that no library can exceed: no gradient leaves before it is final,
and each host must send 2 (n - 1) / n of the bytes for n hosts. It is computed. All other numbers in
these tables and in the picture are measured.$about_hosts$left_out
TEXT
}

# Prints the time until all ranks of a job have joined, if it was measured.
tell_join() {
  is_measured 'join/first sum' || return 0
  echo "$((joining[0] * joining[1])) ranks on ${joining[0]} hosts at 1 Gbit/s, from the command to" \
    "the first sum:" \
    "$(spread 'join/first sum' %.2f 1e-3) s." | paragraph
}

# Prints what predictions took, and whether that is little enough.
tell_predictions() {
  local hosts
  for hosts in 512 10000; do
    is_measured "predict-$hosts/bytes" || continue
    echo "To predict a training step of ResNet-101 by a ring on $hosts hosts," \
      "\`rota-bench predict\` took $(spread "predict-$hosts/seconds" %.2f) s and" \
      "$(spread "predict-$hosts/bytes" %.0f 1e-6) MB of memory." | paragraph
  done
  verdict_of predict-512/seconds 'at most' 5 %.2f 1 'a prediction for 512 hosts takes %s s'
  verdict_of predict-10000/seconds 'at most' 60 %.2f 1 'a prediction for 10,000 hosts takes %s s'
  verdict_of predict-10000/bytes 'at most' 1000 %.0f 1e-6 \
    'a prediction for 10,000 hosts takes %s MB of memory'
  echo
}

# larger_cells FILE MODEL: predicts worlds from a file of costs, and prints a cell of a table for
# each of them. If they cannot be predicted, the cells say so.
larger_cells() {
  timeout -k 30 $prediction_limit "$bin/rota-bench" predict --calibration "$1" \
    --workload "$work/$2.workload" --hosts 8,64,256 --json |
    sed -n 's/.*"efficiency":\([^,}]*\).*/\1/p' | awk '{printf " %.1f %% predicted |", 100 * $1}' ||
    echo ' not predicted | | |'
}

# Prints a table of worlds that are larger than those that were measured. It is predicted from the
# costs of two hosts that validate.sh has measured.
tell_larger_worlds() {
  local model file megabits
  [[ -d $out/calibrations ]] || return 0
  printf '### From the same costs: more hosts\n\n'
  paragraph <<TEXT
The efficiencies below are predicted from the costs above, for hosts of one rank with weak scaling.
No cell was measured. The steps are those of one thread of this machine with a batch of 100 images,
which is measured just before, so they are not those of a paced rank.
TEXT
  printf '| | 8 hosts | 64 hosts | 256 hosts |\n|---|---:|---:|---:|\n'
  for model in "${models[@]}"; do
    "$bin/rota-bench" predict --workload "$model" --print-workload >"$work/$model.workload" ||
      continue
    for file in "$out"/calibrations/*-1; do
      megabits=$(basename "$file" -1)
      echo "| $model at $megabits Mbit/s |$(larger_cells "$file" "$model")"
    done
  done
  echo
}

{
  describe scaling "$command" "${!took_part[@]}"
  explain
  tell_join
  tell_predictions
  printf '![](scaling.svg)\n\n'
  "$bin/rota-bench" scale-page --plot "$out/scaling.svg" \
    --title "paced training steps, weak scaling: efficiency by workers" <"$rows"
  echo
  cat "$out/validation.md"
  echo
  tell_larger_worlds
  "$bin/rota-bench" scale-answers "${answers[@]}"
} >"$out/scaling.new"
mv "$out/scaling.new" "$out/scaling.md"
cat "$out/scaling.md"

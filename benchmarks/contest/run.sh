#!/usr/bin/env bash
# Runs rota and its peers in turn, each once a round, so that a machine that is slow for a while is
# slow for all, and makes a page of tables, and a picture, of what they measured.
#
# usage: run.sh BIN OUT COMMAND SECTION
# SECTION: all-reduce, collectives, oversubscribed, loopback; hosts, pairs or codecs, with a rate:
# hosts-1gbit, hosts-100mbit.
# BIN has the programs. OUT gets SECTION.jsonl, SECTION.md and SECTION.svg. COMMAND is what the page
# says that it was made by. Peers that are not installed are named, and left out.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=peers.sh
source "$here/peers.sh"

(($# == 4)) || {
  sed -n 's/^# usage: /usage: /p' "$0" >&2
  exit 2
}
bin=$(realpath "$1") out=$2 command=$3 section=$4
rows=$out/$section.jsonl
ours="rota shm" note= baseline=()
declare -A took_part=()
mkdir -p "$out"
: >"$rows"

read -r load _ </proc/loadavg
((${load%.*} == 0)) || echo "this machine is busy (load $load): what follows is of little worth" >&2

# contest ROUNDS RANKS CONTESTANTS ARGUMENT... appends to the rows. Who fails, or takes minutes, is
# named and has no rows: ratios are taken round by round, and so there have to be all of them.
contest() {
  local rounds=$1 ranks=$2 contestants=$3 round name new=$out/new.jsonl
  local -A failed=()
  shift 3
  : >"$new"
  for ((round = 1; round <= rounds; ++round)); do
    for name in $contestants; do
      [[ ! -v failed[$name] ]] && is_there "$name" || continue
      "run_$name" "$ranks" "$@" >>"$new" || failed[$name]=1
    done
  done
  for name in "${!failed[@]}"; do
    echo "${titles[$name]}, $ranks ranks: failed, or took more than $limit s; left out" >&2
    drop "${titles[$name]}" "$new"
  done
  for name in $contestants; do [[ -v missing[$name] ]] || took_part[${name%_pairs}]=1; done
  cat "$new" >>"$rows"
  rm "$new"
}

drop() {
  sed -i "/^{\"name\": \"$1/d" "$2"
}

megabits() {
  case $1 in
    *gbit) echo "$((1000 * ${1%gbit}))" ;;
    *) echo "${1%mbit}" ;;
  esac
}

case $section in
  all-reduce)
    title='all-reduce of 2 ranks on one host: time by size'
    # In three parts, so that a round is short: machines change their speed every few seconds.
    for part in 7:4,1K,16K,64K 7:1M,16M 3:64M,256M; do
      contest "${part%%:*}" 2 "rota openmpi mpich gloo limit" all-reduce --placement in-place \
        --memory both --state both --sizes "${part#*:}"
    done
    ;;
  collectives)
    title='2 ranks on one host: time by size'
    contest 5 2 "rota openmpi mpich gloo limit" broadcast,reduce,reduce-scatter,all-gather,all-to-all \
      --sizes 1M,16M,64M
    ;;
  oversubscribed)
    title="more ranks than $(nproc) cores, on one host: time by size"
    for ranks in $((2 * $(nproc))) $((4 * $(nproc))); do
      contest 3 "$ranks" "rota openmpi mpich gloo" all-reduce --placement in-place \
        --sizes 64K,1M,64M --iterations 11
    done
    ;;
  loopback)
    ours="rota tcp" title="all-reduce of 2 ranks over loopback TCP: time by size"
    note="Two processes on one host, told to talk by TCP: nothing is shaped. The socket is two threads and \
one connection: they exchange halves, add what comes, and exchange the sums."
    # shellcheck source=loopback.sh
    source "$here/loopback.sh"
    for part in 7:4,4K,64K 9:1M,16M; do
      contest "${part%%:*}" 2 "rota openmpi socket" all-reduce --placement in-place --memory any \
        --calls isolated --sizes "${part#*:}"
    done
    ;;
  hosts-*)
    rate=${section#hosts-} ours="rota tcp"
    title="all-reduce of 4 hosts at $rate each way: time by size"
    # What the shaper lets through: 1448 bytes of payload in a frame of 1514.
    note="Four hosts that are network namespaces, $rate each way. For 16 MiB, which is 24 MiB each way, \
TCP needs $((24 * 8 * 1024 * 1024 / 1448 * 1514 / 1000 / $(megabits "$rate"))) ms at least."
    # shellcheck source=hosts.sh
    source "$here/hosts.sh"
    make_hosts 4 "$rate"
    # A collective of 16 MiB takes seconds at 100 Mbit/s.
    for part in 5:4K:100 $([[ $rate == 1gbit ]] && echo 5:16M:7 || echo 3:16M:3); do
      IFS=: read -r rounds sizes iterations <<<"$part"
      contest "$rounds" 4 "rota openmpi gloo" all-reduce --placement in-place --memory any \
        --calls isolated --sizes "$sizes" --iterations "$iterations"
    done
    ;;
  pairs-*)
    rate=${section#pairs-} baseline=(--baseline "rota tcp, 4 ranks" --all-worlds)
    title="all-reduce of 4 hosts at $rate each way, two ranks on each: time by size"
    note="Four hosts that are network namespaces, $rate each way. Two ranks on each, which share what leaves \
their host, beside one on each. Open MPI has the choice of all its ways within a host."
    # shellcheck source=hosts.sh
    source "$here/hosts.sh"
    make_hosts 4 "$rate"
    for part in 5:4K:100 $([[ $rate == 1gbit ]] && echo 5:16M:7 || echo 3:16M:3); do
      IFS=: read -r rounds sizes iterations <<<"$part"
      contest "$rounds" 4 "rota rota_pairs openmpi_pairs gloo_pairs" all-reduce \
        --placement in-place --memory any --calls isolated --sizes "$sizes" \
        --iterations "$iterations"
    done
    ;;
  codecs-*)
    rate=${section#codecs-} baseline=(--baseline "rota tcp")
    title="all-reduce of 4 hosts at $rate each way, by codec: time by size"
    note="Four hosts that are network namespaces, $rate each way. Each codec beside values that travel as \
they are."
    # shellcheck source=hosts.sh
    source "$here/hosts.sh"
    make_hosts 4 "$rate"
    for part in 5:1M:9 3:16M:2; do
      IFS=: read -r rounds sizes iterations <<<"$part"
      contest "$rounds" 4 rota all-reduce --placement in-place --memory any --calls isolated \
        --sizes "$sizes" --iterations "$iterations" \
        --codecs identity,bf16,fp16,int8,int8-stochastic,top-k
    done
    ;;
  *)
    echo "run.sh: there is no '$section'" >&2
    exit 2
    ;;
esac
name_missing

{
  describe "$section" "$command" "${!took_part[@]}"
  [[ -z $note ]] || printf '%s\n\n' "$note"
  printf '![](%s.svg)\n\n' "$section"
  "$bin/rota-bench" contest --ours "$ours" "${baseline[@]}" --plot "$out/$section.svg" --title "$title" <"$rows"
} >"$out/$section.md"
cat "$out/$section.md"

#!/usr/bin/env bash
# Runs rota and its peers in turn, each once a round, so that a machine that is slow for a while
# slows all of them. Makes a page of tables and a picture from the results.
#
# usage: run.sh BIN PEERS OUT COMMAND SECTION
# SECTION: all-reduce, collectives, types, oversubscribed, loopback, codecs-shm; hosts, pairs or
# codecs, with a rate: hosts-1gbit, hosts-100mbit.
# BIN has the programs, and PEERS has the MPIs of `./dev setup peers`. OUT gets SECTION.jsonl,
# SECTION.md and SECTION.svg. The page names COMMAND as its origin. The script names the peers that
# are not installed, and leaves them out.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=peers.sh
source "$here/peers.sh"

(($# == 5)) || {
  sed -n 's/^# usage: /usage: /p' "$0" >&2
  exit 2
}
bin=$(realpath "$1") out=$3 command=$4 section=$5
find_newer_mpis "$(realpath -m "$2")"
rows=$out/$section.jsonl
ours="rota shm" note= baseline=() codecs=identity,bf16,fp16,int8,int8-stochastic,top-k
declare -A took_part=()
left_out=  # Sentences of the page about contestants that failed.
mkdir -p "$out"
: >"$rows"

begin_page

# contest ROUNDS RANKS CONTESTANTS ARGUMENT... appends to the rows. If a contestant fails or takes
# more than $limit seconds, the page names it but has no rows of it: ratios need every round.
contest() {
  local rounds=$1 ranks=$2 contestants=$3 round name new=$out/new.jsonl run=$out/run.jsonl
  local -A failed=() checked=()
  shift 3
  : >"$new"
  for name in $contestants; do
    [[ ! -v checked[$name] ]] && is_there "$name" || continue
    checked[$name]=1
    is_right "$name" "$ranks" "$@" || failed[$name]=1
  done
  for ((round = 1; round <= rounds; ++round)); do
    for name in $contestants; do
      [[ ! -v failed[$name] ]] && is_there "$name" || continue
      if run "$name" "$ranks" "$@" --no-check >"$run"; then
        cat "$run" >>"$new"
      else
        failed[$name]=1
      fi
    done
  done
  for name in "${!failed[@]}"; do
    left_out+=" ${titles[$name]} failed at $*, or took more than $limit s, and is left out there."
    echo "${titles[$name]}, $ranks ranks: failed, or took more than $limit s; left out" >&2
    drop "${titles[$name]}" "$new"
  done
  for name in $contestants; do [[ -v missing[$name] ]] || took_part[${name%_pairs}]=1; done
  cat "$new" >>"$rows"
  rm "$new" "$run"
}

# is_right NAME RANKS ARGUMENT...: checks whether the same calls, of two sizes, give the right
# values. Codecs are not checked: the page shows their loss.
is_right() {
  local arguments=()
  ((${#baseline[@]} == 0)) || return 0
  while (($#)); do
    case $1 in
      --sizes | --iterations) shift ;;
      *) arguments+=("$1") ;;
    esac
    shift
  done
  run "${arguments[@]}" --sizes 1K,64K --iterations 2 --check >/dev/null
}

# drop TITLE FILE: removes the rows of a contestant. More words may follow the title, as in "rota
# shm"; with a version, it is another contestant's: "Open MPI 5.0.11".
drop() {
  sed -i "/^{\"name\": \"$1\(\"\| [^0-9]\)/d" "$2"
}

megabits() {
  case $1 in
    *gbit) echo "$((1000 * ${1%gbit}))" ;;
    *) echo "${1%mbit}" ;;
  esac
}

# The limit is the best time that the machine can reach. Processes differ: depending on where its
# pages are, one process is up to three times faster at 16 MiB and more. So the limit gets three
# chances a round.
beside_the_limit="limit rota openmpi limit mpich gloo limit"

beside_peers="Ratios to a peer depend on the CPU and its memory: on another machine they may be \
twice as large."

case $section in
  all-reduce)
    title='all-reduce of 2 ranks on one host: time by size'
    note=$beside_peers
    # Split into parts, so that a round is short: machines change their speed every few seconds.
    for part in 7:4,256,1K,4K 7:16K,64K,256K 7:1M,4M 5:16M,64M 3:256M; do
      contest "${part%%:*}" 2 "$beside_the_limit ${newer_mpis[*]}" all-reduce \
        --placement in-place --memory both --state both --sizes "${part#*:}"
    done
    ;;
  collectives)
    title='2 ranks on one host: time by size'
    note="$beside_peers A ping-pong is a send to rank 1 and a send back: its time is the \
time of both. If rota works in place and a peer cannot, rota is compared with the peer's call out \
of place. An example is reduce-scatter in place: MPI leaves the result of a rank at the beginning \
of the buffer, and rota leaves it at the rank's own place in the buffer."
    calls=broadcast,reduce,reduce-scatter,all-gather,gather,scatter,all-to-all,ping-pong
    for part in 3:8,1K 5:64K,1M,16M 3:64M; do
      contest "${part%%:*}" 2 "$beside_the_limit" $calls --sizes "${part#*:}"
    done
    contest 3 2 "$beside_the_limit" $calls --memory any --state fresh --calls isolated \
      --sizes 1K,64K,1M,16M
    contest 5 2 "rota openmpi mpich gloo" barrier
    ;;
  types)
    title='other types and operations, 2 ranks on one host: time by size'
    note="$beside_peers No peer adds up bfloat16. Sizes are bytes: the same bytes hold four \
times as many values of bfloat16 as of float64."
    for of in float64,bfloat16:sum int32:max; do
      contest 5 2 "$beside_the_limit" all-reduce --placement in-place \
        --types "${of%%:*}" --ops "${of#*:}" --sizes 1K,64K,1M,16M
      contest 3 2 "$beside_the_limit" all-reduce --placement in-place --memory any --state fresh \
        --calls isolated --types "${of%%:*}" --ops "${of#*:}" --sizes 1K,64K,1M,16M
    done
    ;;
  oversubscribed)
    title="more ranks than $(nproc) cores, on one host: time by size"
    for ranks in $((2 * $(nproc))) $((4 * $(nproc))); do
      contest 3 "$ranks" "rota openmpi mpich gloo" all-reduce --placement in-place \
        --calls isolated --sizes 1K,64K,1M,64M --iterations 11
      contest 3 "$ranks" "rota openmpi mpich gloo" all-reduce --placement in-place \
        --memory any --state fresh --calls isolated --sizes 1K,64K,1M --iterations 11
    done
    ;;
  loopback)
    ours="rota tcp" title="all-reduce of 2 ranks over loopback TCP: time by size"
    note="Two processes on one host use TCP, and nothing limits its rate. The column *socket* is a \
program without rota, for comparison: two threads with one connection, which exchange halves, add \
values while more values arrive, and exchange the sums."
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
    # The shaper counts frames: 1448 bytes of payload make a frame of 1514 bytes.
    least=$((24 * 8 * 1024 * 1024 / 1448 * 1514 / 1000 / $(megabits "$rate")))
    note="The four hosts are network namespaces, with $rate each way. In an all-reduce of 16 MiB, \
each host sends and receives 24 MiB. TCP needs at least $least ms for this."
    # shellcheck source=hosts.sh
    source "$here/hosts.sh"
    make_hosts 4 "$rate"
    # A collective of 16 MiB takes seconds at 100 Mbit/s.
    for part in 5:4K:100 $([[ $rate == 1gbit ]] && echo 5:16M:7 || echo 3:16M:3); do
      IFS=: read -r rounds sizes iterations <<<"$part"
      contest "$rounds" 4 "rota openmpi gloo ${newer_mpis[*]}" all-reduce \
        --placement in-place --memory any --calls isolated --sizes "$sizes" \
        --iterations "$iterations"
    done
    ;;
  pairs-*)
    rate=${section#pairs-} ours="rota shm+tcp"
    title="all-reduce of 4 hosts at $rate each way, two ranks on each: time by size"
    note="The four hosts are network namespaces, with $rate each way, which the two ranks of a \
host share. Up to 64 KiB, rota's default plan is by-host. Above 64 KiB it is ring. Both give the \
same bits. The bits of the plan two-level depend on which ranks share a host, so rota uses this \
plan only on request. Inside a host, Open MPI uses shared memory."
    # shellcheck source=hosts.sh
    source "$here/hosts.sh"
    make_hosts 4 "$rate"
    for part in 5:4K:100 $([[ $rate == 1gbit ]] && echo 5:16M:7 || echo 3:16M:3); do
      IFS=: read -r rounds sizes iterations <<<"$part"
      contest "$rounds" 4 "rota_pairs openmpi_pairs gloo_pairs" all-reduce --placement in-place \
        --memory any --calls isolated --sizes "$sizes" --iterations "$iterations"
    done
    ;;
  codecs-shm)
    baseline=(--baseline "rota shm")
    title='all-reduce of 2 ranks on one host, by codec: time by size'
    note="Two ranks on one host share memory. No network is slow here, so the page shows the \
cost of encoding alone. Each codec is compared with values that are not encoded."
    contest 5 2 rota all-reduce --placement in-place --memory both --calls isolated \
      --sizes 1M,16M --codecs "$codecs"
    ;;
  codecs-*)
    rate=${section#codecs-} baseline=(--baseline "rota tcp")
    title="all-reduce of 4 hosts at $rate each way, by codec: time by size"
    note="The four hosts are network namespaces, with $rate each way. Each codec is compared with \
values that are not encoded."
    # shellcheck source=hosts.sh
    source "$here/hosts.sh"
    make_hosts 4 "$rate"
    for part in 5:1M:9 3:16M:3; do
      IFS=: read -r rounds sizes iterations <<<"$part"
      contest "$rounds" 4 rota all-reduce --placement in-place --memory any --calls isolated \
        --sizes "$sizes" --iterations "$iterations" \
        --codecs "$codecs"
    done
    ;;
  *)
    echo "run.sh: there is no '$section'" >&2
    exit 2
    ;;
esac
name_missing

# Writes the whole page or nothing: rota-bench refuses a page whose limit is slower than rota.
{
  describe "$section" "$command" "${!took_part[@]}"
  note+="${note:+ }[What is measured](../benchmarks.md#what-is-measured) explains the words of \
this page, such as isolated, warm and memory any."
  note+=$left_out
  echo "$note" | fold -s -w 100 | sed 's/ *$//; $G'
  printf '![](%s.svg)\n\n' "$section"
  "$bin/rota-bench" contest --ours "$ours" "${baseline[@]}" --plot "$out/$section.svg" \
    --title "$title" <"$rows"
} >"$out/$section.new"
mv "$out/$section.new" "$out/$section.md"
cat "$out/$section.md"

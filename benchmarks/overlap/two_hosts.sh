#!/usr/bin/env bash
# Runs a program as two ranks on two hosts that this script makes: network namespaces with a cable
# of 1 Gbit/s between them. They share the cores and memory of this machine, but not its network.
#
# usage: two_hosts.sh PROGRAM [ARGUMENT...]
# Each rank also gets --rank, --addresses and --key-file. Needs root. The script removes everything
# at the end, whatever happens. A rank that has not ended after ten minutes is asked to end, and then
# killed.
set -euo pipefail

# A burst of about 1 ms of data may leave immediately. 20 ms of data may wait; the rest is dropped.
shape=(tbf rate 1gbit burst 128kb latency 20ms)
hosts=("rota-left-$$" "rota-right-$$")
cable=(left right)
address=(10.0.0.1 10.0.0.2)
addresses=10.0.0.1:7001,10.0.0.2:7001

folder=
ranks=()

clean_up() {
  local pid host
  for pid in "${ranks[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait
  for host in "${hosts[@]}"; do ip netns delete "$host" 2>/dev/null || true; done
  [[ -z $folder ]] || rm -rf "$folder"
}

lay_cable() {
  local i
  for host in "${hosts[@]}"; do ip netns add "$host"; done
  ip link add name "${cable[0]}" netns "${hosts[0]}" type veth \
    peer name "${cable[1]}" netns "${hosts[1]}"
  for i in 0 1; do
    ip -n "${hosts[i]}" address add "${address[i]}/24" dev "${cable[i]}"
    ip -n "${hosts[i]}" link set "${cable[i]}" up
    ip -n "${hosts[i]}" link set lo up
    tc -n "${hosts[i]}" qdisc add dev "${cable[i]}" root "${shape[@]}"
  done
}

run_ranks() {
  local rank verdict=0
  head -c 32 /dev/urandom >"$folder/key"
  for rank in 0 1; do
    ip netns exec "${hosts[rank]}" timeout -k 30 600 "$@" --rank $rank --addresses $addresses \
      --key-file "$folder/key" &
    ranks+=($!)
  done
  for rank in 0 1; do wait "${ranks[rank]}" || verdict=$?; done
  ranks=()
  return $verdict
}

(($#)) || {
  sed -n 's/^# usage: /usage: /p' "$0" >&2
  exit 2
}
if ! unshare --net true 2>/dev/null; then
  echo "two_hosts.sh: skipped: network namespaces need root, on a machine that allows them" >&2
  exit 0
fi
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
umask 077
folder=$(mktemp -d)
lay_cable
run_ranks "$@"

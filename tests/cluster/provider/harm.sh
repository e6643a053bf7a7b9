#!/usr/bin/env bash
# harm.sh NODE cut|join|kill-kubelet|start-kubelet|kill-container ID: makes the faults that tests
# expect rota to survive. Disconnects a node's cable and connects it again, kills and starts its
# kubelet, or kills a container's first process.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/place.sh"
[[ " ${nodes[*]} " == *" $1 "* ]] || die "harm: there are ${nodes[*]}, not '$1'"
case ${2:-} in
  cut) ip link set "rota-$1" down ;;
  join) ip link set "rota-$1" up ;;
  kill-kubelet) kill -9 "$(<"$state/pid/$1-kubelet")" ;;
  start-kubelet) "$provider/start.sh" "$1-kubelet" ;;
  kill-container) containerd_of "$1" tasks kill --signal SIGKILL "$3" ;;
  *) die "harm: cut, join, kill-kubelet, start-kubelet or kill-container, not '${2:-}'" ;;
esac

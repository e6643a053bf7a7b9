#!/usr/bin/env bash
# start.sh NAME starts a process of the cluster as up.sh has written down, in a session of its own, so
# that a Ctrl-C of whoever brought the cluster up does not reach it.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/place.sh"
eval "set -- $1 $(<"$state/start/$1")"
setsid "${@:2}" >>"$state/log/$1.log" 2>&1 </dev/null &
echo $! >"$state/pid/$1"

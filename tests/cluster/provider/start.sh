#!/usr/bin/env bash
# start.sh NAME: starts a process of the cluster with the command that up.sh has recorded. The
# process gets its own session, so that a Ctrl-C in the shell that started the cluster does not
# reach it.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/place.sh"
eval "set -- $1 $(<"$state/start/$1")"
setsid "${@:2}" >>"$state/log/$1.log" 2>&1 </dev/null &
echo $! >"$state/pid/$1"

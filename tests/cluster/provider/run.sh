#!/usr/bin/env bash
# run.sh [--family FAMILY] ARCHIVE... -- COMMAND... runs the command in a cluster that has the images
# of these archives: in the one that is up, or in one that goes with it.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/place.sh"
family=()
if [[ $1 == --family ]]; then
  family=("$1" "$2")
  shift 2
fi
images=()
while [[ $1 != -- ]]; do
  images+=("$1")
  shift
done

"$provider/build.sh"
# One at a time, as the first to be done would take the cluster away from the others. The cluster's own
# processes do not get the lock: they may outlive this.
exec {lock}>"$cache/run.lock"
flock --nonblock "$lock" || {
  echo "cluster: waiting for another run to be done" >&2
  flock "$lock"
}
# Also after a failure and a Ctrl-C: it is a Kubernetes that would be left behind.
[[ -n $(processes) ]] || trap '"$provider/down.sh"' EXIT
"$provider/up.sh" "${family[@]}" {lock}>&-
"$provider/load.sh" "${images[@]}"
export KUBECONFIG=$state/pki/admin.conf ROTA_TEST_HARM=$provider/harm.sh
"${@:2}"

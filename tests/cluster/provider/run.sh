#!/usr/bin/env bash
# run.sh [--family FAMILY] ARCHIVE... -- COMMAND...: runs the command in a cluster that has the
# images of these archives. Uses the cluster that is up, or starts one and takes it down again.
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
# Only one run at a time is allowed: otherwise the first run that ends would stop the cluster of the
# other runs. The cluster's own processes do not inherit the lock: they may outlive this script.
exec {lock}>"$cache/run.lock"
flock --nonblock "$lock" || {
  echo "cluster: waiting for another run to be done" >&2
  flock "$lock"
}
# Stops the cluster also after a failure or Ctrl-C: otherwise its processes would keep running.
[[ -n $(processes) ]] || trap '"$provider/down.sh"' EXIT
"$provider/up.sh" "${family[@]}" {lock}>&-
"$provider/load.sh" "${images[@]}"
export KUBECONFIG=$state/pki/admin.conf ROTA_TEST_HARM=$provider/harm.sh
"${@:2}"

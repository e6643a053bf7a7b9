#!/usr/bin/env bash
# Measures how long eight ranks on four pods take from `kubectl apply` to their first training step.
# Uses the cluster that KUBECONFIG names. Prints a line for each of five rounds, and the medians.
#
# usage: start.sh ROTARUN IMAGE [ROUNDS]
# IMAGE comes from image.sh. The time of a step is the timestamp of its line in the node's log. The
# start time of a container comes from the kubelet, since the pod's status gives only whole seconds.
set -euo pipefail
# Elsewhere, awk, printf, sort and EPOCHREALTIME may read and write a comma for the point of a number.
export LC_ALL=C
(($# == 2 || $# == 3)) || {
  sed -n 's/^# usage: /usage: /p' "$0" >&2
  exit 2
}
rotarun=$1 image=$2 rounds=${3:-5}
namespace=rota-start-$$

# Deletes the job before the namespace. Otherwise the job would try to replace its pods, and a
# namespace in deletion refuses new pods.
clean_up() {
  kubectl delete --namespace "$namespace" job/start --ignore-not-found >/dev/null
  kubectl delete namespace "$namespace" --ignore-not-found --wait=false >/dev/null
}
trap clean_up EXIT
kubectl create namespace "$namespace" >/dev/null

on() { kubectl --namespace "$namespace" "$@"; }
pods() { on get pods -l app.kubernetes.io/name=start "$@"; }

# time_of POD PATTERN: the time of the first matching line of the log, in ns; fails without one.
time_of() {
  local stamp
  stamp=$(on logs --timestamps "$1" 2>/dev/null |
    awk -v pattern="$2" '!is_found && $0 ~ pattern {print $1; is_found = 1}')
  [[ -n $stamp ]] && date -d "$stamp" +%s%N
}

# The time at which the last of four containers started, in ns; empty until all four are known.
last_start() {
  local node
  for node in $(pods -o 'jsonpath={.items[*].spec.nodeName}' | tr ' ' '\n' | sort -u); do
    kubectl get --raw "/api/v1/nodes/$node/proxy/metrics/resource"
  done | awk -v mine="namespace=\"$namespace\"" '
    /^container_start_time_seconds/ && index($0, mine) {++count; if ($2 > last) last = $2}
    END {if (count == 4) printf "%.0f", last * 1e9}'
}

median() { sort -n | awk '{a[NR] = $1} END {printf "%.2f", NR % 2 ? a[(NR + 1) / 2] : (a[NR / 2] + a[NR / 2 + 1]) / 2}'; }
seconds() { awk -v ns="$1" 'BEGIN {printf "%.2f", ns / 1e9}'; }

from_apply=() from_last=()
for ((round = 1; round <= rounds; ++round)); do
  manifest=$("$rotarun" render --name start --workers 4 --slots 2 --image "$image" --cpu-request 50m \
    -- --verbose first_step)
  applied=$(date +%s%N)
  on apply -f - <<<"$manifest" >/dev/null
  for ((tries = 0; tries < 600; ++tries)); do
    leader=$(pods -l batch.kubernetes.io/job-completion-index=0 -o name)
    [[ -z $leader ]] || ! step=$(time_of "$leader" 'first step') || break
    sleep 0.2
  done
  [[ -n ${step:-} ]] || { echo "start.sh: no first step after two minutes" >&2 && exit 1; }
  # The kubelet updates this metric about every ten seconds.
  for ((tries = 0; tries < 60; ++tries)); do
    last=$(last_start)
    [[ -z $last ]] || break
    sleep 1
  done
  [[ -n $last ]] || { echo "start.sh: no kubelet reports when the containers have started" >&2 && exit 1; }
  from_apply+=("$(seconds $((step - applied)))") from_last+=("$(seconds $((step - last)))")
  echo "round $round: ${from_apply[-1]} s from apply, ${from_last[-1]} s from the last container's start"
  on delete --wait job/start service/start secret/start-key >/dev/null
  until [[ -z $(pods -o name) ]]; do sleep 0.2; done
  unset step
done
echo "median: $(printf '%s\n' "${from_apply[@]}" | median) s from apply," \
  "$(printf '%s\n' "${from_last[@]}" | median) s from the last container's start"

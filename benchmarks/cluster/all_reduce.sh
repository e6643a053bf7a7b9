#!/usr/bin/env bash
# Measures how much slower Kubernetes makes an all-reduce. One measurement runs between two pods on
# different nodes, the other between processes outside pods, in the same two network namespaces. The
# two measurements alternate, so that a machine that is slow for a while slows both. Each of them
# runs twice a round, so that the spread of equal runs is visible.
#
# usage: all_reduce.sh ROTARUN IMAGE FOLDER [ROUNDS]
# IMAGE and FOLDER come from image.sh, which makes IMAGE from FOLDER. Needs root and a cluster on
# this machine, since the script enters the pods' namespaces.
set -euo pipefail
(($# == 3 || $# == 4)) || {
  sed -n 's/^# usage: /usage: /p' "$0" >&2
  exit 2
}
rotarun=$1 image=$2 folder=$(realpath "$3") rounds=${4:-7}
sizes=${SIZES:-4,64K,4M,64M}
namespace=rota-all-reduce-$$
scratch=$(mktemp -d)

clean_up() {
  kubectl delete namespace "$namespace" --ignore-not-found --wait=false >/dev/null
  rm -rf "$scratch"
}
trap clean_up EXIT
kubectl create namespace "$namespace" >/dev/null
on() { kubectl --namespace "$namespace" "$@"; }

# Runs a program of the image outside a pod, with the libraries and companions of the image.
here() { LD_LIBRARY_PATH=$folder/usr/lib "$@"; }

# Makes a StatefulSet: its pods keep running after the job in them is done.
make_pods() {
  "$rotarun" render --kind statefulset --name pair --workers 2 --image "$image" \
    --cpu 2 --cpu-request 50m --memory 1Gi -- rota-bench all-reduce --sizes 4 --iterations 1 |
    sed 's/^      terminationGracePeriodSeconds:.*/&\
      affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io\/hostname, labelSelector: {matchLabels: {app.kubernetes.io\/name: pair}}}]}}/' |
    on apply -f - >/dev/null
  on rollout status statefulset/pair --timeout=120s >/dev/null
  for ((tries = 0; tries < 300; ++tries)); do
    ! grep 'done: every rank' <<<"$(on logs pair-0)" >/dev/null || return 0
    sleep 0.2
  done
  echo "all_reduce.sh: the pods are not done after a minute" >&2
  return 1
}

# process_of POD: prints the id, on this machine, of a process in the pod.
process_of() {
  local uid
  uid=$(on get pod "$1" -o 'jsonpath={.metadata.uid}')
  local -a found
  mapfile -t found < <(grep -ls "pod$uid" /proc/[0-9]*/cgroup)
  basename "$(dirname "${found[0]}")"
}

command=(rota-bench all-reduce --json --sizes "$sizes")

in_pods() {
  on exec pair-1 -- rotarun --ports 7720-7729 "${command[@]}" >/dev/null &
  on exec pair-0 -- rotarun --ports 7720-7729 "${command[@]}"
  wait $!
}

in_namespaces() {
  local i started=()
  for i in 1 0; do
    here env ROTA_HOSTS="${address[0]},${address[1]}" ROTA_HOST="${address[i]}" ROTA_SLOTS=1 \
      nsenter --net="/proc/${process[i]}/ns/net" \
      "$folder/usr/bin/rotarun" --ports 7720-7729 --key-file "$scratch/key" \
      "$folder/usr/bin/${command[0]}" "${command[@]:1}" >"$scratch/$i" &
    started+=($!)
  done
  wait "${started[0]}"
  wait "${started[1]}"
  cat "$scratch/0"
}

as() { sed "s/\"name\": \"[^\"]*\"/\"name\": \"$1\"/"; }

make_pods
umask 077
on get secret pair-key -o 'jsonpath={.data.key}' | base64 -d >"$scratch/key"
process=() address=()
for pod in pair-0 pair-1; do
  process+=("$(process_of "$pod")")
  address+=("$(on get pod "$pod" -o 'jsonpath={.status.podIP}')")
done
for ((round = 1; round <= rounds; ++round)); do
  in_pods | as pods
  in_namespaces | as bare
  in_pods | as 'pods again'
  in_namespaces | as 'bare again'
done >"$scratch/rows"
for pair in 'pods:bare' 'pods:pods again' 'bare:bare again'; do
  here "$folder/usr/bin/rota-bench" compare "${pair%:*}" "${pair#*:}" <"$scratch/rows"
done

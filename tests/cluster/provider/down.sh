#!/usr/bin/env bash
# Takes the cluster down and leaves the machine as it was before: no process, mount, namespace,
# cgroup, interface, changed sysctl or file remains. Also takes down a cluster that is only half up.
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/place.sh"
[[ -e $state ]] || exit 0

# All processes in a node's network: kubelet, proxy, containerd, container shims, and pods with
# hostNetwork.
in_network_of() { ip netns pids "$(space_of "$1")" 2>/dev/null; }

in_cgroup_of() {
  local cgroup
  for cgroup in $(cgroups_of "$1"); do
    find "$cgroup" -name cgroup.procs -exec cat {} + 2>/dev/null
  done | sort -u
}

# No state is kept, so SIGKILL ends the processes immediately. This is repeated, because a process
# may be starting another one.
for node in "${nodes[@]}"; do
  for _ in {1..20}; do
    mapfile -t pids < <(in_network_of "$node"; in_cgroup_of "$node")
    ((${#pids[@]})) || break
    kill -9 "${pids[@]}" 2>/dev/null
    sleep 0.1
  done
done
mapfile -t pids < <(processes)
((${#pids[@]} == 0)) || kill -9 "${pids[@]}" 2>/dev/null

# There may be several mounts at one place.
for _ in 1 2 3; do
  awk -v state="$state/" 'index($5, state) == 1 {print $5}' /proc/self/mountinfo | sort -r |
    xargs --no-run-if-empty --max-args=1 umount --lazy
done

for node in "${nodes[@]}"; do
  ip link delete "rota-$node" 2>/dev/null
  [[ ! -e /run/netns/$(space_of "$node") ]] || ip netns delete "$(space_of "$node")"
  for cgroup in $(cgroups_of "$node"); do
    for _ in {1..20}; do # The kernel notices the last exit with a delay.
      [[ -d $cgroup ]] || break
      find "$cgroup" -depth -type d -exec rmdir {} + 2>/dev/null
      [[ ! -d $cgroup ]] || sleep 0.1
    done
  done
done
ip link delete rota0 2>/dev/null
if [[ -e $state/forwarded ]]; then
  while read -r program; do $program -D FORWARD -i rota0 -o rota0 -j ACCEPT 2>/dev/null; done <"$state/forwarded"
fi

while read -r setting; do sysctl -qw "$setting"; done <"$state/sysctls"

# The kubelets and the shims leave links and sockets in shared folders outside the state.
find /var/log/containers -lname "$state/*" -delete 2>/dev/null
grep --recursive --no-filename --only-matching '/run/containerd/s/[0-9a-f]*' "$state"/*/run 2>/dev/null |
  sort -u | xargs --no-run-if-empty rm -f
# `ip netns` has turned its folder into a mount.
[[ ! -e $state/netns-unmounted ]] || ls /run/netns/* >/dev/null 2>&1 || umount --quiet /run/netns
while read -r path; do
  rm -rf --one-file-system "$path"
done <"$state/absent"
rm -rf --one-file-system "$state"

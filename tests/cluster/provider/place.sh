# Where the cluster's programs and its state lie; the other scripts here source it.
# shellcheck shell=bash disable=SC2034

provider=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${ROTA_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rota}/cluster

# What is built goes by the recipe that it was built by, so an old one is never taken for a new one.
recipe=$(cd "$provider" && sha256sum go.mod go.sum {kube,coredns}/main.go policies/policies.go build.sh archive.sh |
  sha256sum | cut -c 1-16)
built=$cache/$recipe

state=${ROTA_CLUSTER:-/var/lib/rota-cluster}
nodes=(node1 node2)
export PATH=$built/bin:$PATH

die() {
  echo "cluster: $*" >&2
  exit 2
}

# What is in there is done as root, so nobody else may have put it there.
[[ ! -e $state || -O $state ]] || die "$state is another user's"

# The network namespace of a node, which is its cgroup's name as well.
space_of() { echo "rota-$1"; }

containerd_of() { ctr --address "$state/$1/containerd.sock" --namespace k8s.io "${@:2}"; }

# The processes that up.sh has started, unless their ids are others' by now, as after a restart.
processes() {
  local file pid
  for file in "$state"/pid/*; do
    pid=$(cat "$file" 2>/dev/null) || continue
    [[ $(readlink "/proc/$pid/exe") != "$(<"$state/built")"/* ]] || echo "$pid"
  done
}

# Whether a cluster is up and has lost none of its processes.
is_up() { [[ -e $state/up && $(processes | wc -l) == $(find "$state/pid" -type f | wc -l) ]]; }

# The directories below which a node's pods have theirs: one, or one a controller with cgroup v1.
cgroups_of() {
  local root
  if [[ -f /sys/fs/cgroup/cgroup.controllers ]]; then
    echo "/sys/fs/cgroup/$(space_of "$1")"
    return
  fi
  for root in /sys/fs/cgroup/{cpu,cpuacct,cpuset,memory,pids,blkio,devices,freezer,systemd,unified}; do
    [[ ! -d $root ]] || echo "$root/$(space_of "$1")"
  done
}

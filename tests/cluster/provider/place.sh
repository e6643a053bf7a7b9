# Defines the folders of the cluster's programs and of its state. The other scripts in this folder
# include this file.
# shellcheck shell=bash disable=SC2034

provider=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${ROTA_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rota}/cluster

# Built programs are in a folder named after their recipe, so an old build is never used for a new
# recipe.
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

# Root runs programs from this folder, so root must own it.
[[ ! -e $state || -O $state ]] || die "$state is another user's"

# The name of a node's network namespace and of its cgroup.
space_of() { echo "rota-$1"; }

containerd_of() { ctr --address "$state/$1/containerd.sock" --namespace k8s.io "${@:2}"; }

# The processes that up.sh has started. A recorded id does not count if it now belongs to another
# process, as after a restart.
processes() {
  local file pid
  for file in "$state"/pid/*; do
    pid=$(cat "$file" 2>/dev/null) || continue
    [[ $(readlink "/proc/$pid/exe") != "$(<"$state/built")"/* ]] || echo "$pid"
  done
}

# Whether a cluster is up and all its processes run.
is_up() { [[ -e $state/up && $(processes | wc -l) == $(find "$state/pid" -type f | wc -l) ]]; }

# The cgroups that contain a node's pods: one, or with cgroup v1 one for each controller.
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

# Starts a node: containerd, kubelet and proxy in the network namespace and the cgroup of the node.
# All their files are in the folder of the cluster's state. up.sh includes this file.
# shellcheck shell=bash disable=SC2154

# `ip netns exec` is not used, because it hides /sys/fs/cgroup behind another mount.
start_in() { start "$1-$2" nsenter --net="/run/netns/$(space_of "$1")" "${@:2}"; }

start_containerd() { # NODE
  local home=$state/$1 ranges='' routes='' i
  mkdir -p "$home"/{cni,kubelet,logs}
  cat >"$home/containerd.toml" <<TOML
version = 3
root = "$home/containerd"
state = "$home/run"
oom_score = 0
disabled_plugins = ["io.containerd.nri.v1.nri", "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.blockfile", "io.containerd.snapshotter.v1.erofs",
  "io.containerd.differ.v1.erofs", "io.containerd.tracing.processor.v1.otlp",
  "io.containerd.internal.v1.tracing"]
[grpc]
  address = "$home/containerd.sock"
[ttrpc]
  address = "$home/containerd.ttrpc"
[plugins."io.containerd.internal.v1.opt"]
  path = "$home/opt"
[plugins."io.containerd.cri.v1.images".pinned_images]
  sandbox = "localhost/pause:cluster"
[plugins."io.containerd.cri.v1.runtime"]
  # A pod's OOM score below containerd's own needs CAP_SYS_RESOURCE, which may be missing here.
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  [plugins."io.containerd.cri.v1.runtime".cni]
    bin_dirs = ["/usr/lib/cni"]
    conf_dir = "$home/cni"
  [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
      SystemdCgroup = false
TOML
  for network in $(pods_of "$1"); do ranges+=${ranges:+, }"[{\"subnet\": \"$network\"}]"; done
  for i in "${!everywhere[@]}"; do routes+=${routes:+, }"{\"dst\": \"${everywhere[i]}\"}"; done
  cat >"$home/cni/10-rota.conflist" <<JSON
{"cniVersion": "1.0.0", "name": "rota", "plugins": [
  {"type": "bridge", "bridge": "cni0", "isGateway": true, "hairpinMode": true,
   "ipam": {"type": "host-local", "dataDir": "$home/ipam", "ranges": [$ranges], "routes": [$routes]}},
  {"type": "portmap", "capabilities": {"portMappings": true}}]}
JSON
  start_in "$1" containerd --config "$home/containerd.toml" --log-level warn
}

start_kubelet() { # NODE
  local home=$state/$1 cgroup addresses
  mapfile -t addresses < <(addresses_of "$1")
  for cgroup in $(cgroups_of "$1"); do
    mkdir -p "$cgroup"
    # With cgroup v1 a cpuset has no cores and no memory until they are assigned.
    for file in cpuset.cpus cpuset.mems; do
      [[ ! -f $cgroup/$file || $cgroup != */cpuset/* ]] || cat "${cgroup%/*}/$file" >"$cgroup/$file"
    done
  done
  echo "nameserver 127.0.0.1" >"$state/resolv.conf" # The cluster knows only its own names.
  cat >"$home/kubelet.yaml" <<Y
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $pki/ca.crt}}
authorization: {mode: Webhook}
containerRuntimeEndpoint: unix://$home/containerd.sock
cgroupDriver: cgroupfs
cgroupRoot: /$(space_of "$1")
failCgroupV1: false
failSwapOn: false
oomScoreAdj: 0
clusterDNS: ["$dns"]
clusterDomain: cluster.local
resolvConf: $state/resolv.conf
podLogsDir: $home/logs
volumePluginDir: $home/plugins
evictionHard: {memory.available: 50Mi, nodefs.available: 1%, imagefs.available: 1%, nodefs.inodesFree: 1%}
imageGCHighThresholdPercent: 100
syncFrequency: 3s
enableProfilingHandler: false
Y
  start_in "$1" kubelet --config "$home/kubelet.yaml" --kubeconfig "$pki/$1.conf" \
    --root-dir "$home/kubelet" --hostname-override "$1" --node-ip "$(joined "${addresses[@]}")"
  cat >"$home/proxy.yaml" <<Y
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
clientConnection: {kubeconfig: $pki/proxy.conf}
mode: iptables
clusterCIDR: "$(joined "${pods[@]}")"
hostnameOverride: $1
oomScoreAdj: 0
conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
healthzBindAddress: 127.0.0.1:10256
metricsBindAddress: 127.0.0.1:10249
Y
  start_in "$1" kube-proxy --config "$home/proxy.yaml"

  # Packets over a bridge, such as between two pods of a node, must obey the rules too.
  [[ -d /proc/sys/net/bridge ]] || modprobe br_netfilter || die "up: the kernel has no br_netfilter"
  nsenter --net="/run/netns/$(space_of "$1")" \
    sysctl -qw net.bridge.bridge-nf-call-iptables=1 net.bridge.bridge-nf-call-ip6tables=1
  start_in "$1" rota-policies "$pki/admin.conf"
}

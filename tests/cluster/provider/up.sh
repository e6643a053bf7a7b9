#!/usr/bin/env bash
# up.sh [--family ipv4|ipv6|dual]: starts a Kubernetes cluster. etcd, API server, controllers and
# scheduler are processes of this machine. Two nodes, each with a containerd, a kubelet and a
# proxy, have network namespaces of their own behind a bridge. down.sh undoes all of it. The
# security settings are those of a real cluster. Only slow parts are left out: etcd's writes to disk
# and the election of leaders.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/place.sh"
source "$provider/network.sh"

family=ipv4
case ${1:-} in
  '') ;;
  --family) family=${2:-} ;;
  *) die "up: --family ipv4, ipv6 or dual, not '$*'" ;;
esac
choose_family "$family"

say_how() { echo "export KUBECONFIG=$state/pki/admin.conf PATH=$built/bin:\$PATH"; }

if [[ -e $state ]] && ! is_up; then
  [[ -e $state/up || -z $(processes) ]] ||
    die "up: $state is of another up or down, going on or interrupted: ./dev cluster down"
  echo "cluster: taking down what is left of one that does not run any more" >&2
  "$provider/down.sh"
fi
if [[ -e $state ]]; then
  [[ $(<"$state/up") == "$family" ]] ||
    die "up: a cluster of family $(<"$state/up") is up: ./dev cluster down"
  echo "# The cluster is up already."
  say_how
  exit
fi
[[ -d $built ]] || die "up: the cluster's programs are not in $built: ./dev cluster build"
begin=$SECONDS
mkdir -m 700 "$state"
mkdir "$state"/{log,pid,pki,start}
echo "$built" >"$state/built"

# Settings that down.sh must restore: the kubelet and the proxy change them.
for name in vm.overcommit_memory vm.panic_on_oom kernel.panic kernel.panic_on_oops \
  kernel.keys.root_maxkeys kernel.keys.root_maxbytes net.ipv4.ip_forward net.ipv6.conf.all.forwarding; do
  echo "$name=$(sysctl -n $name)"
done >"$state/sysctls"
for path in /var/lib/cni /var/lib/kubelet /var/log/containers /var/log/pods /run/containerd /run/xtables.lock \
  /run/netns /opt/cni /etc/cni /usr/libexec/kubernetes; do
  [[ -e $path ]] || echo $path
done >"$state/absent"
mountpoint -q /run/netns || touch "$state/netns-unmounted"

# start NAME COMMAND...: records the process's id, log and command. harm.sh uses the command again.
start() {
  printf '%q ' "${@:2}" >"$state/start/$1"
  "$provider/start.sh" "$1"
}

# wait_for SECONDS WHAT COMMAND...
wait_for() {
  local end=$((SECONDS + $1))
  until "${@:3}" >/dev/null 2>&1; do
    ((SECONDS < end)) || die "up: no $2 after $1 s, see $state/log"
    sleep 0.1
  done
}

source "$provider/certificates.sh"
make_network
export KUBECONFIG=$state/pki/admin.conf

start etcd etcd --name cluster --data-dir "$state/etcd" --unsafe-no-fsync --log-level warn \
  --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
  --listen-peer-urls http://127.0.0.1:2380 --initial-advertise-peer-urls http://127.0.0.1:2380 \
  --initial-cluster cluster=http://127.0.0.1:2380
start apiserver kube-apiserver --etcd-servers http://127.0.0.1:2379 \
  --bind-address "${host[0]}" --advertise-address "${host[0]}" --secure-port 6443 \
  --tls-cert-file "$pki/apiserver.crt" --tls-private-key-file "$pki/apiserver.key" \
  --client-ca-file "$pki/ca.crt" --kubelet-preferred-address-types InternalIP \
  --kubelet-client-certificate "$pki/apiserver-kubelet.crt" \
  --kubelet-client-key "$pki/apiserver-kubelet.key" \
  --service-account-key-file "$pki/accounts.pub" \
  --service-account-signing-key-file "$pki/accounts.key" \
  --service-account-issuer https://kubernetes.default.svc.cluster.local \
  --service-cluster-ip-range "$(joined "${services[@]}")" --authorization-mode Node,RBAC \
  --enable-admission-plugins NodeRestriction --allow-privileged=true --profiling=false

# Starts the nodes' containerd and loads the images while the API server starts.
source "$provider/node.sh"
for node in "${nodes[@]}"; do start_containerd "$node"; done
loading=()
for node in "${nodes[@]}"; do
  wait_for 30 "containerd on $node" containerd_of "$node" version
  "$provider/load.sh" --node "$node" "$built"/images/*.tar >"$state/log/$node-images.log" 2>&1 &
  loading+=($!)
done
wait_for 60 "API server" kubectl get --raw /readyz
for pid in "${loading[@]}"; do wait "$pid" || die "up: an image was not taken, see $state/log"; done

start controllers kube-controller-manager --kubeconfig "$pki/controllers.conf" \
  --leader-elect=false --profiling=false --bind-address 127.0.0.1 \
  --service-account-private-key-file "$pki/accounts.key" --root-ca-file "$pki/ca.crt" \
  --use-service-account-credentials
start scheduler kube-scheduler --kubeconfig "$pki/scheduler.conf" --leader-elect=false \
  --bind-address 127.0.0.1 --profiling=false
for node in "${nodes[@]}"; do start_kubelet "$node"; done

all_ready() { [[ $(kubectl get nodes --no-headers | grep -cw Ready) == "${#nodes[@]}" ]]; }
{
  sed "s|DNS_ADDRESS|$dns|" "$provider/coredns.yaml" | kubectl apply -f -
  wait_for 60 "nodes" all_ready
  kubectl -n kube-system rollout status deployment/coredns --timeout=60s
  for controller in jobset trainer; do
    kubectl apply --server-side -f "$built/manifests/$controller.yaml"
    # The trainer looks for JobSet's kind first of all, so JobSet must be there before it.
    kubectl get deployments -A --no-headers -o custom-columns=:metadata.namespace,:metadata.name |
      while read -r namespace name; do
        kubectl -n "$namespace" rollout status "deployment/$name" --timeout=120s
      done
  done
} >"$state/log/apply.log" 2>&1 || die "up: the cluster's own pods do not run, see $state/log/apply.log"
echo "$family" >"$state/up"
echo "# The cluster is up after $((SECONDS - begin)) s."
say_how

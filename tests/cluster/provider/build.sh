#!/usr/bin/env bash
# Builds all that a Kubernetes consists of from Go modules into the cache, unless it is there: the
# programs, images of the programs that run in pods, and the manifests of the controllers.
set -euo pipefail
exec >&2  # What else is printed may be for a shell.
source "$(dirname "${BASH_SOURCE[0]}")/place.sh"

mkdir -p "$cache"
exec {lock}>"$cache/lock"
flock "$lock"  # Two at once would do the same work twice.
[[ ! -d $built ]] || exit 0

wanted=$(sed -n 's/^go \([0-9]*\.[0-9]*\).*/\1/p' "$provider/go.mod")
command -v go >/dev/null ||
  die "the cluster is built with Go $wanted or later, and there is no go in PATH: https://go.dev/dl"
export GOTOOLCHAIN=local
present=$(go env GOVERSION)
[[ $(printf '%s\n' "$wanted" "${present#go}" | sort -V | head -n 1) == "$wanted" ]] ||
  die "the cluster is built with Go $wanted or later, and $(command -v go) is $present: https://go.dev/dl"

# Only what is whole gets its name; what an interrupted build has left goes with the next.
rm -rf "$cache"/making.*
making=$(mktemp -d "$cache/making.XXXXXX")
trap 'rm -rf "$making"' EXIT
mkdir "$making"/{bin,images,manifests}

export CGO_ENABLED=0 GOFLAGS='-buildvcs=false -trimpath'
export GOMODCACHE=${GOMODCACHE:-$cache/go/mod} GOCACHE=${GOCACHE:-$cache/go/build}
cd "$provider"

version_of() { go list -m -f '{{.Version}}' "$1"; }

# program NAME PACKAGE [LINKER-FLAG...]
program() {
  echo "==> building $1"
  go build -o "$making/bin/$1" -ldflags "-s -w ${*:3}" "$2"
}

# What the programs call themselves is looked at by others, so it is not left at "unknown".
kubernetes=$(version_of k8s.io/kubernetes)
minor=${kubernetes#v1.}
into=k8s.io/component-base/version
containerd=github.com/containerd/containerd/v2
program kube ./kube -X "$into.gitVersion=$kubernetes" -X $into.gitMajor=1 \
  -X "$into.gitMinor=${minor%%.*}" -X $into.gitTreeState=clean
for name in kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy kubectl rota-policies; do
  ln -s kube "$making/bin/$name"
done
program etcd go.etcd.io/etcd/server/v3
program containerd $containerd/cmd/containerd -X "$containerd/version.Version=$(version_of $containerd)"
program containerd-shim-runc-v2 $containerd/cmd/containerd-shim-runc-v2
program ctr $containerd/cmd/ctr
program coredns ./coredns
program jobset sigs.k8s.io/jobset
program trainer github.com/kubeflow/trainer/v2/cmd/trainer-controller-manager

# image NAME CONFIG FILE PATH-IN-IMAGE, of a program that stands alone.
image() {
  local folder
  folder=$(mktemp -d -p "$making")
  mkdir -m 1777 "$folder/tmp"
  cp "$3" "$folder$4"
  ./archive.sh "$making/images/$1.tar" "localhost/$1:cluster" "$2" "$folder"
  rm -r "$folder"
}

echo "==> making images and manifests"
# A pod's namespaces live as long as this process, which adopts what the containers leave.
${CC:-cc} -static -Os -s -x c -std=c2x -o "$making/pause" - <<'C'
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void leave(int) { _exit(0); }
static void reap(int) { while (waitpid(-1, 0, WNOHANG) > 0) {} }

int main(void) {
  signal(SIGTERM, leave);
  signal(SIGINT, leave);
  signal(SIGCHLD, reap);
  for (;;) pause();
}
C
image pause '{"Entrypoint": ["/pause"], "User": "65535:65535"}' "$making/pause" /pause
rm "$making/pause"
image coredns '{"Entrypoint": ["/coredns"]}' "$making/bin/coredns" /coredns
# The controllers' own manifests call them so.
image jobset '{"Entrypoint": ["/manager"], "User": "65532:65532"}' "$making/bin/jobset" /manager
image trainer '{"Entrypoint": ["/manager"], "User": "65532:65532"}' "$making/bin/trainer" /manager
rm "$making"/bin/{coredns,jobset,trainer}

# manifest NAME FOLDER: as the controller's authors have it, but with our image, and without delays
# and requests that suit a large cluster.
manifest() {
  "$making/bin/kubectl" kustomize "$2" | sed -E "
    s|^( *)image: .*/(jobset\|trainer-controller-manager):.*|\1image: localhost/$1:cluster\n\1imagePullPolicy: Never|
    s|cpu: 500m|cpu: 50m|
    s|initialDelaySeconds: [0-9]+|initialDelaySeconds: 0|
    s|periodSeconds: [0-9]+|periodSeconds: 1|" >"$making/manifests/$1.yaml"
  grep -q "localhost/$1:cluster" "$making/manifests/$1.yaml" || die "the manifest of $1 names no image of ours"
}

manifest jobset "$(go list -m -f '{{.Dir}}' sigs.k8s.io/jobset)/config/default"
# The trainer's would fetch JobSet from GitHub, and it is here.
cp -r "$(go list -m -f '{{.Dir}}' github.com/kubeflow/trainer/v2)/manifests" "$making/trainer"
chmod -R u+w "$making/trainer"
sed -i '/third-party\/jobset/d' "$making/trainer/overlays/manager/kustomization.yaml"
manifest trainer "$making/trainer/overlays/manager"
rm -r "$making/trainer"

mv "$making" "$built"
echo "==> the cluster's programs are in $built"

#!/usr/bin/env bash
# run.sh BUILD measures in a cluster on this machine how long a job takes to start, and how much
# slower Kubernetes makes an all-reduce. BUILD is a build of preset `image` with the benchmarks.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(realpath "$1") image=localhost/rota-bench:test
"$here/image.sh" "$build" "$build/bench"

measure() {
  echo "==> from kubectl apply to the first training step"
  "$here/start.sh" "$build/bin/rotarun" $image
  echo "==> an all-reduce in pods, and without them"
  "$here/all_reduce.sh" "$build/bin/rotarun" $image "$build/bench/rota-bench"
}
export -f measure
export here build image
"$here/../../tests/cluster/provider/run.sh" "$build/bench/rota-bench.tar" -- bash -c measure

#!/usr/bin/env bash
# image.sh BUILD OUT makes the archive of the image rota-bench, which start.sh and all_reduce.sh
# use. The image is rota-mnist with rota-bench and first_step. BUILD is a build of preset `image`
# with the benchmarks. The files of the image are in OUT/rota-bench.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=$(realpath "$1") out=$2
k8s/image/roots.sh "$build" "$out"
mv "$out/rota-mnist" "$out/rota-bench"
cp "$build"/bin/{rota-bench,first_step} "$out/rota-bench/usr/bin/"
k8s/image/closure.sh "$out/rota-bench"
tests/cluster/provider/archive.sh "$out/rota-bench.tar" localhost/rota-bench:test \
  "$(<k8s/image/config.json)" "$out/rota-bench"

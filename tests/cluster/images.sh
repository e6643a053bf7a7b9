#!/usr/bin/env bash
# images.sh BUILD OUT makes the images of the tests from a build of preset `image`, as archives and
# without a registry: rota and rota-mnist as k8s/image/ has them, and rota-test, which is rota-mnist
# and the programs of the tests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=$(realpath "$1") out=$2
k8s/image/roots.sh "$build" "$out"
cp -r "$out/rota-mnist" "$out/rota-test"
cp "$build"/tests/{shared_buffers,show_table,stranger} "$out/rota-test/usr/bin/"
k8s/image/closure.sh "$out/rota-test"
for name in rota rota-mnist rota-test; do
  tests/cluster/provider/archive.sh "$out/$name.tar" "localhost/$name:test" \
    "$(<k8s/image/config.json)" "$out/$name"
done

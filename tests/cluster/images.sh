#!/usr/bin/env bash
# images.sh BUILD OUT: makes the images of the tests from a build of preset `image`, as archives and
# without a registry. The images rota, rota-mnist, rota-openmpi and rota-tensorboard are as in
# k8s/image/. TensorBoard comes from the Python environment of ./dev setup judges, and rota-openmpi
# has a program of Open MPI. rota-test is rota-mnist with the programs of the tests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source cmake/dev/say.sh
source cmake/dev/judges.sh
build=$(realpath "$1") out=$2
k8s/image/roots.sh "$build" "$out"
cp -r "$out/rota-mnist" "$out/rota-test"
cp "$build"/tests/{shared_buffers,show_table,stranger} "$out/rota-test/usr/bin/"
k8s/image/closure.sh "$out/rota-test"
cp -r "$out/rota" "$out/rota-openmpi"
mpicxx.openmpi -O1 -o "$out/rota-openmpi/usr/bin/openmpi_member" tests/launcher/mpi/mpi_member.cpp
k8s/image/openmpi_root.sh "$build" "$out/rota-openmpi"
for name in rota rota-mnist rota-test rota-openmpi; do
  tests/cluster/provider/archive.sh "$out/$name.tar" "localhost/$name:test" \
    "$(<k8s/image/config.json)" "$out/$name"
done

has_judges || die "there is no TensorBoard for an image: ./dev setup judges installs it"
"$(judges_folder)/bin/python" -B k8s/image/tensorboard_root.py "$out/rota-tensorboard"
k8s/image/closure.sh "$out/rota-tensorboard" --keep-symbols
tests/cluster/provider/archive.sh "$out/rota-tensorboard.tar" localhost/rota-tensorboard:test \
  '{"Entrypoint": ["tensorboard"], "User": "10001:10001", "Env": ["PATH=/usr/bin"]}' \
  "$out/rota-tensorboard"

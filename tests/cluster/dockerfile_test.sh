#!/usr/bin/env bash
# dockerfile_test.sh SOURCE: builds the images of k8s/image/ with buildah, on a Debian made by
# mmdebstrap. Then trains in them with the example and with a user's own program. Everything is
# compiled again, so the test takes long. Exits with 77 if the test cannot run here.
set -euo pipefail
source=$(realpath "$1")
for program in buildah mmdebstrap runc; do
  command -v $program >/dev/null || { echo "SKIPPED: there is no $program" && exit 77; }
done
((EUID == 0)) || { echo "SKIPPED: only root may build images without a user namespace" && exit 77; }

place=$(mktemp -d)
# buildah's own storage does not change, and none of its layers is mounted when the test ends.
export BUILDAH_ISOLATION=oci CONTAINERS_STORAGE_CONF=$place/storage.conf
trap 'buildah rm --all >/dev/null; rm -rf "$place"' EXIT
cat >"$CONTAINERS_STORAGE_CONF" <<TOML
[storage]
driver = "vfs"
graphroot = "$place/graph"
runroot = "$place/run"
TOML

mmdebstrap --quiet --variant=minbase bookworm "$place/debian.tar" /etc/apt/sources.list.d/debian.sources
base=$(buildah from scratch)
buildah add --quiet "$base" "$place/debian.tar" / >/dev/null
buildah config --env PATH=/usr/sbin:/usr/bin:/sbin:/bin "$base"
buildah commit --quiet --rm "$base" localhost/debian >/dev/null

# build DOCKERFILE TARGET FOLDER...
build() {
  buildah bud --runtime runc --network host --layers --build-arg DEBIAN=localhost/debian \
    --file "$1" ${2:+--target "$2"} --tag "${2:-your-program}" "$3"
}
for target in rota-dev rota rota-mnist rota-tensorboard; do
  build "$source/k8s/image/Dockerfile" $target "$source"
done

mkdir "$place/program"
cp "$source/examples/your_own_model"/{data_parallel.cpp,network.h} "$place/program/"
cat >"$place/program/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(your_program LANGUAGES CXX)
find_package(rota REQUIRED)
add_executable(your_program data_parallel.cpp)
target_link_libraries(your_program PRIVATE rota::rota)
CMAKE
build "$source/k8s/image/your_program.Dockerfile" '' "$place/program"

# run IMAGE COMMAND...: a user's container has no shell and needs none.
run() {
  local container status=0
  container=$(buildah from "$1")
  buildah run --runtime runc "$container" "${@:2}" || status=$?
  buildah rm "$container" >/dev/null
  return $status
}
run rota rotarun --version
run rota-mnist rotarun -np 2 mnist --epochs 1 | grep 'test accuracy'
run your-program rotarun -np 2 your_program
run rota-tensorboard tensorboard --version

# Makes the images rota and rota-mnist for 64-bit ARM, and starts a job of rota-mnist's files in the
# emulator: `./dev arm --image`.
# shellcheck shell=bash
source cmake/dev/sysroot.sh

test_arm_image() {
  local name folder=build/image-arm64/images
  setup build arm
  make_sysroot arm64
  configure image-arm64
  compile image-arm64
  k8s/image/roots.sh build/image-arm64 "$folder" "$kept/arm/arm64"
  for name in rota rota-mnist; do
    tests/cluster/provider/archive.sh "$folder/$name-arm64.tar" "localhost/$name:arm64" \
      "$(<k8s/image/config.json)" "$folder/$name" aarch64
  done
  tests/cluster/image_size_test.sh "$folder" || die "arm: an image is too large"
  start_arm_image "$folder/rota-mnist"
  ls "$folder"/*.tar
}

# start_arm_image ROOT lets the rotarun of the image whose files are in ROOT start two ranks, which
# train. The emulator looks for libraries in ROOT first. The libraries of this machine are of no use
# to programs for ARM, so the image must have all libraries that they need.
start_arm_image() {
  local data=build/image-arm64/few log=build/image-arm64/job.log emulated
  emulated=("$(command -v qemu-aarch64)" -cpu "${cpus[pi3]}" -L "$1")
  mkdir -p "$data"
  python3 cmake/dev/machine/few_images.py "$data"
  say "training on two ranks of the image, in the emulator"
  "${emulated[@]}" "$1/usr/bin/rotarun" -np 2 "${emulated[@]}" "$1/usr/bin/mnist" --json \
    --data "$data" --model seed --epochs 1 --batch-size 10 >"$log" 2>&1 ||
    die "arm: the image's job has failed (see $log)"
  grep '"event":"done"' "$log" || die "arm: the image's job trained nothing (see $log)"
}

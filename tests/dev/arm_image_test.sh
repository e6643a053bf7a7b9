#!/usr/bin/env bash
# Images may be for another processor than this machine's: they get its libraries, and name it.
# Method: files of a few lines replace programs and libraries. They say what readelf would read.
source "$(dirname "${BASH_SOURCE[0]}")/small_tree.sh"
make_tree tree

run 2 tree/dev arm --all --image
expect "the option is the first" says '^dev: arm: --image must be the first option$'
run 0 tree/dev help
for option in --all --board --machine --image --cycles; do
  expect "the help of ./dev arm has $option" says "^  arm .*$option|^ {21}$option"
done

fake readelf <<'SH'
case $1 in
  -lW) sed -n 's/^loader \(.*\)/      [Requesting program interpreter: \1]/p' "${@:2}" ;;
  -dW) sed -n 's/^needs \(.*\)/ 0x01 (NEEDED)    Shared library: [\1]/p' "${@:2}" ;;
  *) exit 2 ;;
esac
SH
fake aarch64-linux-gnu-strip <<'SH'
[[ $1 == --strip-unneeded ]] && echo "$2" >>stripped
SH

# binary PATH [LINE...] makes a program or a library that says these lines.
binary() {
  mkdir -p "${1%/*}"
  printf '%s\n' $'\x7fELF' "${@:2}" >"$1"
  chmod +x "$1"
}
libraries=aarch64-linux-gnu
binary sysroot/lib/$libraries/ld-linux-aarch64.so.1
ln -s $libraries/ld-linux-aarch64.so.1 sysroot/lib
binary sysroot/lib/$libraries/libc.so.6 'needs ld-linux-aarch64.so.1'
binary sysroot/usr/lib/$libraries/libone.so.1.2 'needs libtwo.so.2' 'needs libc.so.6'
ln -s libone.so.1.2 sysroot/usr/lib/$libraries/libone.so.1
binary sysroot/usr/lib/$libraries/libtwo.so.2 'needs libc.so.6' 'needs libone.so.1'
binary sysroot/usr/lib/$libraries/librota.so.0.1 'needs libold.so.1'
binary sysroot/usr/lib/$libraries/libother.so.1
binary root/usr/bin/program 'loader /lib/ld-linux-aarch64.so.1' 'needs librota.so.0.1'
binary root/usr/bin/another 'loader /lib/ld-linux-aarch64.so.1' 'needs libinner.so.1'
binary root/usr/lib/librota.so.0.1 'needs libone.so.1'
binary root/usr/lib/$libraries/libinner.so.1

run 0 "$source_tree/k8s/image/closure.sh" root --sysroot sysroot
expect "the image has its loader and all libraries, and no others" \
  diff <(cd root && find . -type f | LC_ALL=C sort) <(printf '%s\n' \
    ./lib/ld-linux-aarch64.so.1 ./usr/bin/another ./usr/bin/program \
    ./usr/lib/$libraries/libinner.so.1 ./usr/lib/libc.so.6 ./usr/lib/libone.so.1 \
    ./usr/lib/librota.so.0.1 ./usr/lib/libtwo.so.2)
expect "a library of the image replaces Debian's" grep -q libone root/usr/lib/librota.so.0.1
expect "the tools of ARM strip all files" test "$(sort -u stripped | wc -l)" = 8

echo 'needs libabsent.so.1' >>root/usr/bin/program
run 1 "$source_tree/k8s/image/closure.sh" root --sysroot sysroot
expect "a library that is absent is named" \
  says '^closure.sh: libabsent.so.1 is needed, but is not in .*/sysroot$'

# archive STATUS [PROCESSOR]
archive() {
  run "$1" "$source_tree/tests/cluster/provider/archive.sh" image.tar localhost/small:1 '{}' root \
    "${@:2}"
}
# processor NAME succeeds if the image names the processor so.
# shellcheck disable=SC2317  # expect calls it.
processor() { tar -xOf image.tar config.json | grep -qF "{\"architecture\": $1, \"os\": \"linux\""; }
archive 0 aarch64
expect "the image is for 64-bit ARM" processor '"arm64"'
archive 0 armv7l
expect "the image is for 32-bit ARM" processor '"arm", "variant": "v7"'
fake uname <<'SH'
[[ $1 == -m ]] && echo x86_64
SH
archive 0
expect "the image is for this machine" processor '"amd64"'
archive 2 sparc
expect "other processors are refused by name" \
  says '^archive.sh: no image is known to run on sparc$'

# The job of an image: a program of a few lines replaces the emulator.
fake python3 <<<'echo "$*" >images'
fake qemu-aarch64 <<'SH'
echo "$*" >command
cat "$PWD"/said
exit "${FAKE_CODE:-0}"
SH
# start STATUS [VARIABLE...]: starts the job of the image whose files are in ROOT.
start() {
  # shellcheck disable=SC2016  # The other bash expands the names.
  run "$1" env -C tree "${@:2}" bash -c 'set -euo pipefail
    source cmake/dev/say.sh
    declare -A cpus=([pi3]=cortex-a53)
    source cmake/dev/arm_image.sh
    start_arm_image ROOT'
}
echo '{"event":"done","test_accuracy":0.9}' >tree/said
start 0
expect "rotarun and its ranks are those of the image" grep -qE \
  "^-cpu cortex-a53 -L ROOT ROOT/usr/bin/rotarun -np 2 $work/fake/qemu-aarch64 -cpu cortex-a53 -L ROOT ROOT/usr/bin/mnist " \
  tree/command
expect "the ranks have images to train on" \
  grep -qx 'cmake/dev/machine/few_images.py build/image-arm64/few' tree/images
start 2 FAKE_CODE=9
expect "a job that fails is told" says "^dev: arm: the image's job has failed"
: >tree/said
start 2
expect "a job that trains nothing is told" says "^dev: arm: the image's job trained nothing"
exit "$failures"

#!/usr/bin/env bash
# roots.sh BUILD OUT [SYSROOT] makes the files of the images from the build of preset `image`, or
# from that of preset `image-arm64` and the libraries in the folder SYSROOT:
#   OUT/rota        the launcher, its companions and librota, with all that they need to run
#   OUT/rota-mnist  the same, with the example mnist and its data set
# The images contain nothing else: no shell, no package, and only files that a program needs to run.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(realpath "$1") out=$2
rm -rf "$out"
mkdir -p "$out/rota"/{usr/bin,usr/lib,etc}
out=$(realpath "$out")

stage=$out/installed
DESTDIR=$stage cmake --install "$build" --prefix /usr >/dev/null
root=$out/rota
cp "$stage/usr/bin/rotarun" "$root/usr/bin/"
cp -r "$stage/usr/libexec" "$root/usr/"
# Users make manifests on a machine where rota is installed. No pod needs rota-manifest or YAML.
# openmpi_root.sh adds rotarun-pmix, which only programs of Open MPI need.
rm -f "$root"/usr/libexec/rota/{rota-manifest,rotarun-pmix}
find "$stage/usr" -name 'librota.so.*' -type l -exec cp --dereference {} "$root/usr/lib/" ';'
rm -r "$stage"

# Gives the user a name, for programs that ask for it. Without a shell no login is possible.
echo 'rota:x:10001:10001:rota:/:/sbin/nologin' >"$root/etc/passwd"
echo 'rota:x:10001:' >"$root/etc/group"
"$here/closure.sh" "$root" ${3:+--sysroot "$3"}

cp -r "$root" "$out/rota-mnist"
root=$out/rota-mnist
cp "$build/bin/mnist" "$root/usr/bin/"
mkdir -p "$root/usr/share/rota/mnist"
# Unpack the data, so that ranks need not do it: an image is compressed for transfer anyway.
cp "$here"/../../examples/mnist/data/*.gz "$root/usr/share/rota/mnist/"
gunzip "$root"/usr/share/rota/mnist/*.gz
"$here/closure.sh" "$root" ${3:+--sysroot "$3"}

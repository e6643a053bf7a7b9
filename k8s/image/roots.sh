#!/usr/bin/env bash
# roots.sh BUILD OUT makes what the images consist of from the build of preset `image`:
#   OUT/rota        the launcher, its companions and librota, with all that they need to run
#   OUT/rota-mnist  the same, the example mnist and its data set
# Nothing else is in them: no shell, no package, no file that is not needed to run.
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
# Manifests are made at a desk, where rota is installed: no pod asks for them, nor for a YAML library.
rm -f "$root/usr/libexec/rota/rota-manifest"
find "$stage/usr" -name 'librota.so.?' -exec cp --dereference {} "$root/usr/lib/" ';'
rm -r "$stage"

# Whoever asks for the name of the user gets one; with no shell, there is nothing to log in to.
echo 'rota:x:10001:10001:rota:/:/sbin/nologin' >"$root/etc/passwd"
echo 'rota:x:10001:' >"$root/etc/group"
"$here/closure.sh" "$root"

cp -r "$root" "$out/rota-mnist"
root=$out/rota-mnist
cp "$build/bin/mnist" "$root/usr/bin/"
mkdir -p "$root/usr/share/rota/mnist"
# An image is compressed on its way already, and ranks that need not inflate theirs start at once.
cp "$here"/../../examples/mnist/data/*.gz "$root/usr/share/rota/mnist/"
gunzip "$root"/usr/share/rota/mnist/*.gz
"$here/closure.sh" "$root"

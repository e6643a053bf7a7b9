#!/usr/bin/env bash
# openmpi_root.sh BUILD ROOT: adds what programs of Open MPI need to ROOT, which has the files of the
# image rota: rotarun-pmix from the build of preset `image`, and this machine's Debian packages of
# Open MPI and PMIx, which open their components by name. closure.sh adds the libraries.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$1 root=$(realpath "$2")

cp "$build/bin/rotarun-pmix" "$root/usr/libexec/rota/"
dpkg -L libopenmpi3 openmpi-common libpmix2 | while read -r file; do
  [[ ! -d $file || -L $file ]] || continue
  case $file in
    /usr/share/doc/* | /usr/share/man/* | /usr/share/lintian/* | /usr/share/bug/*) ;;
    # Networks that a pod reaches only with more rights and devices, and other languages.
    *_ofi.so* | *_psm.so | *_psm2.so | *_ucx.so* | *_verbs.so* | *_openib.so | *_usnic.so) ;;
    *java* | *mpifh* | *oshmem* | *usempi*) ;;
    *) echo "${file#/}" ;;
  esac
done | tar --create --directory / --files-from - | tar --extract --directory "$root"
LD_LIBRARY_PATH=$(echo "$root"/usr/lib/*-linux-gnu) "$here/closure.sh" "$root"

#!/usr/bin/env bash
# installed_files.sh PREFIX SOURCE BUILD: the package installs exactly the intended files.
set -euo pipefail
prefix=$1 source=$2 build=$3

expected() {
  (cd "$source/lib" && find include/rota -name '*.h')
  cat <<'FILES'
bin/rota-checkpoint
bin/rotarun
lib/cmake/rota/FindCAres.cmake
lib/cmake/rota/rota-config-version.cmake
lib/cmake/rota/rota-config.cmake
lib/cmake/rota/rota-shared-targets.cmake
lib/cmake/rota/rota-static-targets.cmake
lib/librota.a
lib/librota.so
lib/librota.so.V.V
lib/librota.so.V.V.V
lib/pkgconfig/rota.pc
libexec/rota/rota-manifest
libexec/rota/rota-preflight
libexec/rota/rotarun-hosts
share/bash-completion/completions/rota-checkpoint
share/bash-completion/completions/rotarun
share/doc/rota/LICENSE
share/man/man1/rota-checkpoint.1
share/man/man1/rotarun-render.1
share/man/man1/rotarun.1
FILES
  [[ ! -e $build/lib/mpi/CMakeFiles ]] || printf '%s\n' include/rota/mpi.h \
    lib/cmake/rota/rota-mpi.cmake share/rota/mpi/calls.cpp
  for mpi in openmpi mpich; do
    [[ ! -e $build/lib/mpi/librota_mpi_$mpi.so ]] || printf "lib/librota_mpi_$mpi.%s\n" so so.V.V so.V.V.V
  done
  [[ ! -e $(echo "$build"/lib/mpi/librota_mpi_*.so | cut -d' ' -f1) ]] ||
    echo lib/cmake/rota/rota-mpi-targets.cmake
  for part in cuda nccl; do
    [[ ! -e $build/lib/$part/librota_$part.so ]] || printf '%s\n' include/rota/$part.h \
      lib/cmake/rota/rota-$part-targets.cmake lib/librota_$part.{so,so.V.V,so.V.V.V}
  done
  [[ ! -e $build/bin/rotarun-pmix ]] || echo libexec/rota/rotarun-pmix
  [[ ! -e $build/bin/rota-bench ]] || printf '%s\n' bin/rota-bench share/man/man1/rota-bench.1
}

# The library's folder may also be lib64 or lib/x86_64-linux-gnu. The targets of a configuration and
# the finder of OpenBLAS may be present or absent.
installed() {
  (cd "$prefix" && find . ! -type d) |
    sed -E -e 's|^\./||' -e '/^libexec/!s|^lib[^/]*/([^/]*-linux-gnu[^/]*/)?|lib/|' \
      -e '/\.so\./s/[0-9]+/V/g' \
      -e '/-targets-[a-z]*\.cmake$/d' -e '/FindOpenBLAS\.cmake$/d'
}

diff <(expected | sort) <(installed | sort) || {
  echo "the expected files (<) and the installed files (>) differ" >&2
  exit 1
}
if grep -rl "$source" "$prefix/include" "$prefix"/lib*/cmake "$prefix"/lib*/pkgconfig; then
  echo "the installed files above contain the path of the source tree, $source" >&2
  exit 1
fi

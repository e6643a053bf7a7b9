#!/usr/bin/env bash
# installed_files.sh PREFIX SOURCE BUILD: what is installed is what is meant to be, and nothing else.
set -euo pipefail
prefix=$1 source=$2 build=$3

expected() {
  (cd "$source/lib" && find include/rota -name '*.h')
  cat <<'FILES'
bin/rotarun
lib/cmake/rota/FindCAres.cmake
lib/cmake/rota/rota-config-version.cmake
lib/cmake/rota/rota-config.cmake
lib/cmake/rota/rota-shared-targets.cmake
lib/cmake/rota/rota-static-targets.cmake
lib/librota.a
lib/librota.so
lib/librota.so.V
lib/librota.so.V.V.V
lib/pkgconfig/rota.pc
libexec/rota/rota-manifest
libexec/rota/rota-preflight
libexec/rota/rotarun-hosts
share/bash-completion/completions/rotarun
share/man/man1/rotarun-render.1
share/man/man1/rotarun.1
FILES
  [[ ! -e $build/bin/rota-bench ]] || printf '%s\n' bin/rota-bench share/man/man1/rota-bench.1
}

# The library's folder may be lib64 or lib/x86_64-linux-gnu; the targets of a configuration, and
# what finds OpenBLAS, are there or not.
installed() {
  (cd "$prefix" && find . ! -type d) |
    sed -E -e 's|^\./||' -e '/^libexec/!s|^lib[^/]*/([^/]*-linux-gnu[^/]*/)?|lib/|' \
      -e '/\.so\./s/[0-9]+/V/g' \
      -e '/-targets-[a-z]*\.cmake$/d' -e '/FindOpenBLAS\.cmake$/d'
}

diff <(expected | sort) <(installed | sort) || {
  echo "expected (<) is not what is installed (>)" >&2
  exit 1
}
if grep -rl "$source" "$prefix/include" "$prefix"/lib*/cmake "$prefix"/lib*/pkgconfig; then
  echo "these name the folder of the sources" >&2
  exit 1
fi

#!/bin/sh
# ccache.sh COMPILER ARGUMENT... compiles, through ccache if it is installed. The presets name this
# script as the compiler launcher, so the commands of a build are the same with and without ccache.
# ROTA_NO_CCACHE=1 compiles without it.
if [ "${ROTA_NO_CCACHE:-}" = 1 ] || ! command -v ccache >/dev/null; then exec "$@"; fi

# ccache makes paths below the tree relative to the build's folder, so another checkout finds the
# same objects.
export CCACHE_BASEDIR="${0%/cmake/ccache.sh}" CCACHE_NOHASHDIR=1
# ccache looks objects up by the files that they include, so it need not run the preprocessor.
export CCACHE_DEPEND=1
# A file may be written while it is compiled. ccache must not store the object of such a file. So
# this list omits include_file_mtime and include_file_ctime, and ccache looks at the times of files.
export CCACHE_SLOPPINESS=pch_defines,time_macros
if [ -z "${CCACHE_DIR:-}" ]; then
  export CCACHE_DIR="${ROTA_CACHE:-${XDG_CACHE_HOME:-${HOME:-}/.cache}/rota}/ccache"
  export CCACHE_MAXSIZE=4G
fi
# If the cache's folder cannot be written, ccache would fail instead of compiling.
[ -w "$CCACHE_DIR" ] || mkdir -p "$CCACHE_DIR" 2>/dev/null || exec "$@"
exec ccache "$@"

#!/bin/sh
# ccache.sh COMPILER ARGUMENT... compiles, by ccache where it is installed. The presets name this as
# the compiler's launcher, so a build's commands stay the same whether there is ccache or not.
# ROTA_NO_CCACHE=1 compiles without it.
if [ "${ROTA_NO_CCACHE:-}" = 1 ] || ! command -v ccache >/dev/null; then exec "$@"; fi

# Paths below the tree count from the build's folder: so a checkout elsewhere finds the same
# objects.
export CCACHE_BASEDIR="${0%/cmake/ccache.sh}" CCACHE_NOHASHDIR=1
# What was included says what an object depends on: nothing is preprocessed only to be looked up.
export CCACHE_DEPEND=1
# What is written while it is compiled must not be kept as what it then says: so a file's times
# count, as ccache has it by default.
export CCACHE_SLOPPINESS=pch_defines,time_macros
if [ -z "${CCACHE_DIR:-}" ]; then
  export CCACHE_DIR="${ROTA_CACHE:-${XDG_CACHE_HOME:-${HOME:-}/.cache}/rota}/ccache"
  export CCACHE_MAXSIZE=4G
fi
# Where nothing can be kept, ccache would compile nothing.
[ -w "$CCACHE_DIR" ] || mkdir -p "$CCACHE_DIR" 2>/dev/null || exec "$@"
exec ccache "$@"

# Checks whether ccache can be used, if it is installed, and reports its hits. cmake/ccache.sh calls
# the compiler through ccache.
# shellcheck shell=bash

# try_ccache tests whether ccache stores an object. If ccache is broken, full or read-only, the
# build does not use it.
try_ccache() {
  [[ ${ROTA_NO_CCACHE:-} != 1 ]] && command -v ccache >/dev/null || return 0
  local folder why=
  folder=$(mktemp -d)
  # This source was never compiled before. So the first call must miss the cache, and the second
  # call must hit it.
  echo "int tried_by_${folder##*[./]}_$$;" >"$folder/try.cpp"
  local compile=("$PWD/cmake/ccache.sh" "${CXX:-c++}" -MD -c "$folder/try.cpp" -o "$folder/try.o")
  if ! why=$({ "${compile[@]}" && CCACHE_STATSLOG=$folder/log "${compile[@]}"; } 2>&1); then
    why=${why%%$'\n'*}
    why=${why:-it ended with an error}
  elif ! grep -q cache_hit "$folder/log" 2>/dev/null; then
    why="it stores nothing: is its disk full or read-only?"
  else
    why=
  fi
  rm -r "$folder"
  [[ -n $why ]] || return 0
  say "building without ccache: ${why#ccache: error: }"
  export ROTA_NO_CCACHE=1
}

# tell_hits LOG prints the number of hits in a log of ccache.
tell_hits() {
  [[ -s $1 ]] || return 0
  local hits misses
  hits=$(grep -c '^direct_cache_hit$' "$1" || true)
  misses=$(grep -c '^cache_miss$' "$1" || true)
  say "ccache: $hits of $((hits + misses)) objects came from the cache"
}

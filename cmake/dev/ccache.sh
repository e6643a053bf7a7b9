# ccache, where it is installed: whether it can be used, and what it has saved. How a compiler is
# called by it is in cmake/ccache.sh.
# shellcheck shell=bash

# try_ccache leaves a ccache aside that is broken, full or read-only: it must keep what it is given.
try_ccache() {
  [[ ${ROTA_NO_CCACHE:-} != 1 ]] && command -v ccache >/dev/null || return 0
  local folder why=
  folder=$(mktemp -d)
  # A program that nobody has compiled before is not there at first, and is there then.
  echo "int tried_by_${folder##*[./]}_$$;" >"$folder/try.cpp"
  local compile=("$PWD/cmake/ccache.sh" "${CXX:-c++}" -MD -c "$folder/try.cpp" -o "$folder/try.o")
  if ! why=$({ "${compile[@]}" && CCACHE_STATSLOG=$folder/log "${compile[@]}"; } 2>&1); then
    why=${why%%$'\n'*}
    why=${why:-it ends with an error}
  elif ! grep -q cache_hit "$folder/log" 2>/dev/null; then
    why="it keeps nothing: is its disk full or read-only?"
  else
    why=
  fi
  rm -r "$folder"
  [[ -n $why ]] || return 0
  say "ccache is left aside: ${why#ccache: error: }"
  export ROTA_NO_CCACHE=1
}

# tell_hits LOG: what a log of ccache's says in all.
tell_hits() {
  [[ -s $1 ]] || return 0
  local hits misses
  hits=$(grep -c '^direct_cache_hit$' "$1" || true)
  misses=$(grep -c '^cache_miss$' "$1" || true)
  say "ccache: $hits of $((hits + misses)) objects were there"
}

#!/usr/bin/env bash
# Builds share compiled objects through ccache, and continue without a ccache that does not work.
# ShellCheck does not know that the quoted scripts expand their own variables.
# shellcheck disable=SC2016

source "$(dirname "${BASH_SOURCE[0]}")/small_tree.sh"
left_out=

# goes_on WHY: the build succeeds and prints one line about ccache.
goes_on() {
  make_tree tree
  run 0 tree/dev build
  expect "ccache is named in one line, about: $1" test "$(grep -c ccache output)" = 1
  expect "the line gives the reason: $1" says "^==> building without ccache: .*$1"
  expect "the program is built without ccache" \
    test -x tree/build/release/bin/one -o -x tree/build/release/one
  rm -r tree
}

if [[ -x $(command -v ccache) ]]; then
  make_tree here
  make_tree there/and/deeper
  run 0 here/dev build
  expect "an empty cache has no hits" says '^==> ccache: 0 of 1 objects came from the cache$'
  run 0 there/and/deeper/dev build
  expect "what one tree has compiled is there for another" \
    says '^==> ccache: 1 of 1 objects came from the cache$'
  # The next build uses the presets alone, without ./dev.
  make_tree alone
  expect "presets use the cache too" bash -c 'cd alone && export CCACHE_STATSLOG=$PWD/log &&
    cmake --preset release >/dev/null && cmake --build build/release >/dev/null &&
    grep -q cache_hit log'

  touch file
  CCACHE_DIR=$work/file goes_on 'Not a directory'
  if ((EUID == 0)); then
    mkdir full
    if mount -t tmpfs -o size=64k tmpfs full 2>/dev/null; then
      head -c 65536 /dev/zero >full/most 2>/dev/null
      CCACHE_DIR=$work/full goes_on 'it stores nothing'
      mount -o remount,ro full
      CCACHE_DIR=$work/full goes_on 'it stores nothing|Read-only'
      umount full
    else
      left_out="tests of a full and of a read-only cache, because no tmpfs can be mounted here"
    fi
  else
    left_out="tests of a full and of a read-only cache, because only root may mount"
  fi
else
  left_out="tests of shared objects, because there is no ccache here"
fi
fake ccache <<'SH'
exit 1
SH
goes_on 'it ended with an error'
fake ccache <<'SH'
kill -SEGV $$
SH
goes_on 'it ended with an error|Segmentation'
fake ccache <<'SH'
exec "$@"
SH
goes_on 'it stores nothing'

# Without ccache, ./dev prints nothing about it.
rm fake/ccache
make_tree tree
ROTA_NO_CCACHE=1 run 0 tree/dev build
expect "./dev says nothing about ccache" says_not ccache
((failures)) || [[ -z $left_out ]] || {
  echo "left out: $left_out"
  exit 77
}
exit "$failures"

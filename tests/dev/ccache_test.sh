#!/usr/bin/env bash
# Builds share what they compile by ccache, and go on without one that does not work.
# Functions are called by expect, and scripts expand their own variables.
# shellcheck disable=SC2016

source "$(dirname "${BASH_SOURCE[0]}")/small_tree.sh"
left_out=

# goes_on WHY: the build is done, with one line about ccache.
goes_on() {
  make_tree tree
  run 0 tree/dev build
  expect "one line, about: $1" test "$(grep -c ccache output)" = 1
  expect "why: $1" says "^==> ccache is left aside: .*$1"
  expect "it is built" test -x tree/build/release/bin/one -o -x tree/build/release/one
  rm -r tree
}

if [[ -x $(command -v ccache) ]]; then
  make_tree here
  make_tree there/and/deeper
  run 0 here/dev build
  expect "nothing is there at first" says '^==> ccache: 0 of 1 objects were there$'
  run 0 there/and/deeper/dev build
  expect "what one tree has compiled is there for another" \
    says '^==> ccache: 1 of 1 objects were there$'
  # cmake alone, without ./dev.
  make_tree alone
  expect "presets use it too" bash -c 'cd alone && export CCACHE_STATSLOG=$PWD/log &&
    cmake --preset release >/dev/null && cmake --build build/release >/dev/null &&
    grep -q cache_hit log'

  touch file
  CCACHE_DIR=$work/file goes_on 'Not a directory'
  if ((EUID == 0)); then
    mkdir full
    if mount -t tmpfs -o size=64k tmpfs full 2>/dev/null; then
      head -c 65536 /dev/zero >full/most 2>/dev/null
      CCACHE_DIR=$work/full goes_on 'it keeps nothing'
      mount -o remount,ro full
      CCACHE_DIR=$work/full goes_on 'it keeps nothing|Read-only'
      umount full
    else
      left_out="no tmpfs can be mounted here: a full and a read-only one"
    fi
  else
    left_out="only root may mount: a full and a read-only one"
  fi
else
  left_out="there is no ccache here: what it shares"
fi
fake ccache <<'SH'
exit 1
SH
goes_on 'it ends with an error'
fake ccache <<'SH'
kill -SEGV $$
SH
goes_on 'it ends with an error|Segmentation'
fake ccache <<'SH'
exec "$@"
SH
goes_on 'it keeps nothing'

# Without any, nothing is said.
rm fake/ccache
make_tree tree
ROTA_NO_CCACHE=1 run 0 tree/dev build
expect "nothing is said" says_not ccache
((failures)) || [[ -z $left_out ]] || {
  echo "left out: $left_out"
  exit 77
}
exit "$failures"

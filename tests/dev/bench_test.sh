#!/usr/bin/env bash
# ./dev bench refuses what it cannot measure before it builds anything.
source "$(dirname "${BASH_SOURCE[0]}")/small_tree.sh"

make_tree tree
for what in '' hosts 'scale hosts'; do
  # Each word is an argument.
  # shellcheck disable=SC2086
  run 2 tree/dev bench --short $what
  expect "--short is refused with '$what'" says 'bench: --short is only for scale$'
  expect "nothing was built" test ! -e tree/build
done

run 2 tree/dev bench --docs scale nothing
expect 'an unknown benchmark is named' says "bench: there is no benchmark 'nothing'; "
expect 'nothing was built' test ! -e tree/build

exit "$failures"

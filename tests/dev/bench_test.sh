#!/usr/bin/env bash
# ./dev bench refuses --short for benchmarks that have no short form, before it builds anything.
source "$(dirname "${BASH_SOURCE[0]}")/small_tree.sh"

make_tree tree
for what in '' hosts 'scale hosts'; do
  # Each word is an argument.
  # shellcheck disable=SC2086
  run 2 tree/dev bench --short $what
  expect "--short is refused with '$what'" says 'bench: --short is only for scale$'
  expect "nothing was built" test ! -e tree/build
done

exit "$failures"

#!/usr/bin/env bash
# Tests the script that refuses the packages of 32-bit ARM on processors that they cannot run on.
# shellcheck disable=SC2154

source "$(dirname "${BASH_SOURCE[0]}")/small_tree.sh"
fake uname <<'SH'
[[ $1 == -m ]] && echo "$FAKE_MACHINE"
SH

for machine in armv6l armv5tel; do
  run 1 env FAKE_MACHINE=$machine "$source_tree/cmake/armhf/preinst" install
  expect "$machine is refused by name" \
    says "^rota needs ARMv7, and this processor is $machine: .* use a Raspberry Pi 2 or later"
done
for machine in armv7l armv8l aarch64; do
  run 0 env FAKE_MACHINE=$machine "$source_tree/cmake/armhf/preinst" install
  expect "nothing is said on $machine" test ! -s output
done
exit "$failures"

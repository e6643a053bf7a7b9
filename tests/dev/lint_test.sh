#!/usr/bin/env bash
# clang-tidy checks each source and each unit of sources once for the same contents. A source of
# tests/ that never passed is checked only if it changed lately.
# ShellCheck does not know that the quoted scripts expand their own variables, and that expect calls
# functions.
# shellcheck disable=SC2016,SC2317

source "$(dirname "${BASH_SOURCE[0]}")/small_tree.sh"
make_tree tree
cd tree || exit
mkdir -p launcher examples benchmarks build/tidy lib/os
echo '#include "os/fd.h"' >lib/two.cpp
echo '#include "os/deep.h"' >lib/os/fd.h
echo >lib/os/deep.h
echo '#include "os/fd.h"' >tests/one_test.cpp
echo >tests/two_test.cpp
echo >.clang-tidy
# commands FLAG [SOURCE...]: writes the command that compiles each source.
commands() {
  local flag=$1 source
  shift
  (($#)) || set -- lib/{one,two}.cpp tests/{one,two}_test.cpp build/made.cpp
  for source; do
    printf '{\n  "directory": "x",\n  "command": "g++ -I%s %s -c %s",\n  "file": "%s"\n}\n' \
      "$PWD" "$flag" "$PWD/$source" "$PWD/$source"
  done >build/tidy/compile_commands.json
}
commands -O1
cd ..
fake clang-tidy <<SH
[[ \$1 != --version ]] || { echo 14; exit; }
echo "\${*: -1}" >>"$work/linted"
! grep -q BAD "\${*: -1}"
SH

export where=tree
lint_tree() { bash -c 'set -euo pipefail; cd "$where"
  for part in say build record lint; do source cmake/dev/$part.sh; done; lint "$@"' - "$@"; }
linted() { diff <(for source; do echo "$source"; done) <(sort linted 2>/dev/null); }
# checks STATUS SOURCE...: runs the linter, which checks exactly these sources.
checks() {
  rm -f linted
  run "$1" lint_tree
  expect "${*:2} are linted" linted "${@:2}"
}

run 0 lint_tree --all
expect "all are linted" linted lib/one.cpp lib/two.cpp tests/one_test.cpp tests/two_test.cpp
checks 0
touch tree/lib/one.cpp
checks 0
echo >>tree/lib/os/deep.h
checks 0 lib/two.cpp tests/one_test.cpp
(cd tree && commands -O2)
checks 0 lib/one.cpp lib/two.cpp tests/one_test.cpp tests/two_test.cpp
echo 'Checks: more' >tree/.clang-tidy
checks 0 lib/one.cpp lib/two.cpp tests/one_test.cpp tests/two_test.cpp
echo BAD >tree/lib/one.cpp
checks 1 lib/one.cpp
checks 1 lib/one.cpp
echo >tree/lib/one.cpp
checks 0 lib/one.cpp

# A checkout elsewhere has the same sources, though its commands name other folders.
mkdir elsewhere
cp -r tree elsewhere/tree
(cd elsewhere/tree && commands -O2)
where=elsewhere/tree
checks 0
where=tree

# A file of tests/ that never passed here is checked only by --all, unless it changed lately.
rm -r kept
checks 0 lib/one.cpp lib/two.cpp
expect "the number of sources that were left out is told" \
  says 'except 2 of tests/, never checked here$'
rm linted
run 0 lint_tree --all
expect "--all has all" linted tests/one_test.cpp tests/two_test.cpp

commit() {
  git -C tree add -A
  git -C tree -c user.name=a -c user.email=a@b commit -q -m "$1"
}
rm -r kept
echo build >tree/.gitignore
git -C tree init -q && commit "The first"
checks 0 lib/one.cpp lib/two.cpp
echo >>tree/tests/two_test.cpp
checks 0 tests/two_test.cpp
echo >>tree/tests/one_test.cpp
commit "The second"
echo >>tree/lib/one.cpp
checks 0 lib/one.cpp tests/one_test.cpp

# A unit consists of everything that it includes.
made=(build/tidy/{lib/units/lib,tests/units/tests}_1.cpp)
mkdir -p tree/build/tidy/{lib,tests}/units
echo '#include "lib/one.cpp"' >"tree/${made[0]}"
echo '#include "tests/one_test.cpp"' >"tree/${made[1]}"
(cd tree && commands -O1 "${made[@]}")
checks 0 "${made[@]}"
checks 0
echo >>tree/tests/one_test.cpp
checks 0 "${made[1]}"
rm -r kept
commit "The third"
checks 0 "${made[@]}"
exit "$failures"

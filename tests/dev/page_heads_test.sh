#!/usr/bin/env bash
# The head of a benchmark page names the commit of the begin of the measurement, and says whether
# the code differed from it. No page is made if the code changes meanwhile. Method: a small
# repository, and a script that measures nothing.
# ShellCheck takes the quotes of code in Markdown for command substitutions.
# shellcheck disable=SC2016

source "$(dirname "${BASH_SOURCE[0]}")/small_tree.sh"
mkdir -p tree/{lib,launcher,benchmarks/pages,examples,cmake,docs}
cp "$source_tree/benchmarks/pages/head.sh" tree/benchmarks/pages
cp "$source_tree/.gitignore" tree
for folder in lib launcher benchmarks examples cmake docs; do echo 1 >tree/$folder/one; done
cat >tree/benchmarks/measure.sh <<'SH'
# usage: measure.sh MEANWHILE
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source benchmarks/pages/head.sh
warn_if_busy() { :; }  # It takes a second.
bin=build/bin
begin_page
eval "$1"
{
  head_of_page speed './dev bench speed' 'rota 1'
  echo '| 1 |'
} >speed.new
mv speed.new speed.md
SH

# commit [FOLDER]
commit() {
  git add -A "${1:-.}" && git -c user.name=a -c user.email=a@b commit -q -m "$1"
}
cd tree || exit
echo '/speed.*' >>.gitignore
unset "${!GIT_@}"  # They may name another repository, as in a hook of git.
git init -q && commit . || exit

# names COMMIT MEANWHILE: a page is made, and its head has this commit.
names() {
  rm -f speed.md
  run 0 bash benchmarks/measure.sh "$2"
  expect "with '$2' the page names $1" grep -qsF "Commit \`$1\`, compiler unknown." speed.md
}

# refuses MEANWHILE: no page is made.
refuses() {
  rm -f speed.md
  run 1 bash benchmarks/measure.sh "$1"
  expect "the reason is told" says \
    '^no page: the code \(lib launcher benchmarks examples cmake\) changed while speed was measured'
  expect "with '$1' there is no page" test ! -e speed.md
  git reset -q --hard "$first" && git clean -dfq
}

first=$(git describe --always --abbrev=12)
names "$first" true
expect "the head has the command, the day and the CPU" grep -qE \
  '^Measured by `./dev bench speed` on [0-9]+ [A-Z][a-z]+ [0-9]{4}: ' speed.md
mkdir -p docs/benchmarks && cp speed.md docs/benchmarks
run 1 "$source_tree/tests/style/benchmark_pages.sh" .
expect "only the flags are missing" test "$(cat output)" = \
  "docs/benchmarks/speed.md: its head does not have the flags"
mkdir -p build/{bin,benchmarks}
echo 'preset release, GNU 12.2.0 with `-O3`, rotarun with -O1' >build/benchmarks/built_by.txt
run 0 bash benchmarks/measure.sh true
cp speed.md docs/benchmarks
run 0 "$source_tree/tests/style/benchmark_pages.sh" .
rm -r build docs/benchmarks

for folder in lib launcher benchmarks examples cmake; do
  refuses "echo 2 >>$folder/one"
  refuses "echo 2 >$folder/two"
  refuses "rm $folder/one"
  echo 2 >>$folder/one
  names "$first-dirty" true
  refuses "echo 3 >>$folder/one"
  echo 2 >$folder/two
  names "$first-dirty" true
  refuses "echo 3 >$folder/two"
done

# What is not measured does not matter, even if it is committed meanwhile.
names "$first" 'echo 2 >>docs/one; echo 2 >two'
git clean -dfq
export -f commit
names "$first" 'echo 3 >>docs/one; commit docs'
git reset -q --hard "$first"
names "$first" 'mkdir benchmarks/__pycache__; echo >benchmarks/__pycache__/common.pyc'

# A commit of the code meanwhile does, even if the files stay as they were.
refuses 'echo 2 >>lib/one; commit lib'
echo 2 >>lib/one
refuses 'commit lib'

# Without a commit, a page is made that says so.
rm -rf .git
names unknown 'echo 2 >>lib/one'
cd .. && git init -q
echo 1 >one && git add one && git -c user.name=a -c user.email=a@b commit -q -m "Of another project"
cd tree || exit
names unknown true
exit "$failures"

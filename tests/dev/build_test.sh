#!/usr/bin/env bash
# A build that goes on after what came between: a tree that was moved, a configuration that was
# interrupted or is another compiler's, a disk that is full.
source "$(dirname "${BASH_SOURCE[0]}")/small_tree.sh"

make_tree tree
run 0 tree/dev build
mv tree moved
run 0 moved/dev build
expect "a tree that was moved is built afresh" \
  says '^==> building build/release afresh: it is of another folder'
run 0 moved/dev build
expect "once" says_not afresh

rm moved/build/release/CMakeFiles/cmake.check_cache
run 0 moved/dev build
expect "an interrupted configuration is done afresh" says afresh
truncate -s 1000 moved/build/release/CMakeCache.txt
run 0 moved/dev build
expect "a cut cache is made afresh" says afresh
sed -i 's/^set(CMAKE_CXX_COMPILER_VERSION .*/set(CMAKE_CXX_COMPILER_VERSION "4.2.0")/' \
  moved/build/release/CMakeFiles/*/CMakeCXXCompiler.cmake
run 0 moved/dev build
expect "what another compiler made is made afresh" says 'afresh: it is of another compiler'
rm -r moved/build/release/CMakeFiles
run 0 moved/dev build
rm moved/build/release/build.ninja
run 0 moved/dev build

# A tree needs no history.
expect "there is no .git here" test ! -e moved/.git
git -C moved init -q && git -C moved add -A &&
  git -C moved -c user.name=a -c user.email=a@b commit -q -m "The only one"
run 0 moved/dev build

make_tree full
fake df <<'SH'
echo Avail
cat "$(dirname "$0")/../free"
SH
echo 3 >free
run 2 full/dev build
expect "one sentence" test "$(wc -l <output)" = 1
expect "about the disk" says '^dev: the disk of .*/full is full: 3 MB are left$'
expect "nothing is there by half" test ! -e full/build

# Full while it builds.
echo 5000 >free
fake cmake <<SH
[[ \$1 != --build ]] || { echo 3 >"$work/free"; exit 1; }
exec $(command -v cmake) "\$@"
SH
run 2 full/dev build
expect "the disk is said to be full" says '^dev: the disk of .* is full'
rm fake/cmake
echo 5000 >free
run 0 full/dev build
exit "$failures"

#!/usr/bin/env bash
# A build recovers after the tree was moved, after its configuration was interrupted, after the
# compiler has changed, and after the disk was full.
source "$(dirname "${BASH_SOURCE[0]}")/small_tree.sh"

make_tree tree
run 0 tree/dev build
mv tree moved
run 0 moved/dev build
expect "a tree that was moved is built afresh" \
  says '^==> building build/release from scratch: it was configured in another folder'
run 0 moved/dev build
expect "a second build is not from scratch" says_not from.scratch

rm moved/build/release/CMakeFiles/cmake.check_cache
run 0 moved/dev build
expect "an interrupted configuration is done afresh" says from.scratch
truncate -s 1000 moved/build/release/CMakeCache.txt
run 0 moved/dev build
expect "a cut cache is made afresh" says from.scratch
sed -i 's/^set(CMAKE_CXX_COMPILER_VERSION .*/set(CMAKE_CXX_COMPILER_VERSION "4.2.0")/' \
  moved/build/release/CMakeFiles/*/CMakeCXXCompiler.cmake
run 0 moved/dev build
expect "what another compiler made is made afresh" says 'from scratch: it was configured for another compiler'
printf 'set(CMAKE_SYSTEM_NAME Linux)\nset(CMAKE_CXX_COMPILER c++)\n' >toolchain.cmake
run 0 cmake -G Ninja -S moved -B moved/build/cross -DCMAKE_TOOLCHAIN_FILE="$work/toolchain.cmake"
expect "what a toolchain file's compiler made is used again" \
  test -z "$(cd moved && source cmake/dev/build.sh && why_afresh build/cross)"
rm -r moved/build/release/CMakeFiles
run 0 moved/dev build
rm moved/build/release/build.ninja
run 0 moved/dev build

# A tree needs no git history.
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
expect "a full disk gives one line" test "$(wc -l <output)" = 1
expect "the line is about the disk" says '^dev: the disk of .*/full is full: 3 MB are left$'
expect "nothing is half-built on a full disk" test ! -e full/build

# The disk fills up during the build.
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

#!/usr/bin/env bash
# debian_packages.sh BUILD PREFIX FOLDER: the Debian packages of a build have the files that are
# installed, each of them once, and name the packages that they need.
set -euo pipefail
build=$1 prefix=$2 folder=$3

fail() { echo "$*" >&2 && exit 1; }

rm -rf "$folder"
# Not compressed: this is quicker.
cpack --config "$build/CPackConfig.cmake" -B "$folder" -D CPACK_DEBIAN_COMPRESSION_TYPE=none \
  >"$folder.log" 2>&1 || fail "cpack failed: $(cat "$folder.log")"

# files_of PACKAGE prints the files below /usr, without folders.
files_of() { dpkg-deb --fsys-tarfile "$1" | tar -t | sed -n 's|^\./usr/\(.*[^/]\)$|\1|p'; }

# Each package has the licence. An installation without packages has it once.
packaged=$(for package in "$folder"/*.deb; do files_of "$package"; done | sort)
twice=$(uniq -d <<<"$packaged")
[[ -z $twice ]] || fail "two packages have the files $twice"
diff <(cd "$prefix" && find . ! -type d | sed 's|^\./||' | grep -v '^share/doc/rota/LICENSE$' | sort) \
  <(grep -v '^share/doc/[^/]*/copyright$' <<<"$packaged") ||
  fail "the installed files (<) and the files of all packages (>) differ"

# expect_files NAME REGEX...: the package has a file for each expression, and all of its files match
# one of them. Each package has its licence, besides.
expect_files() {
  local package regex all
  set -- "$@" "share/doc/$1/copyright"
  package=$(echo "$folder/$1"_*.deb)
  [[ -f $package ]] || fail "there is no package $1"
  for regex in "${@:2}"; do
    files_of "$package" | grep -qxE "$regex" || fail "$1 has no file $regex"
  done
  all=$(IFS='|' && echo "${*:2}")
  ! files_of "$package" | grep -vxE "$all" || fail "$1 has the files above"
}

# expect_depends NAME REGEX...: the package depends on a package for each expression.
expect_depends() {
  local depends regex
  depends=$(dpkg-deb -f "$folder/$1"_*.deb Depends)
  for regex in "${@:2}"; do
    tr ',' '\n' <<<"$depends" | grep -qxE " *$regex" || fail "$1 does not depend on $regex: $depends"
  done
}

version=$(dpkg-deb -f "$folder"/librota0.1_*.deb Version)
same="\(= ${version//./\\.}\)"
any='( \(>= .*\))?'
expect_files librota0.1 'lib.*/librota\.so\.0\.1(\.[0-9]+)*'
expect_depends librota0.1 "libc6$any" "libc-ares2$any" "libssl3$any" "libstdc\+\+6$any" "zlib1g$any"
expect_files librota-dev 'include/rota/.*\.h' 'lib.*/librota\.(a|so)' 'lib.*/pkgconfig/rota\.pc' \
  'lib.*/cmake/rota/.*\.cmake'
expect_depends librota-dev "librota0.1 $same"
expect_files rota 'bin/rota(run|-checkpoint)' 'libexec/rota/rota.*' \
  'share/man/man1/rota(run.*|-checkpoint)\.1' 'share/bash-completion/completions/rota.*'
expect_depends rota "libc6$any" "libhwloc15$any" "libssl3$any"
for package in "$folder"/rota-bench_*.deb; do
  [[ -f $package ]] || continue
  expect_files rota-bench 'bin/rota-bench' 'share/man/man1/rota-bench\.1'
  expect_depends rota-bench "rota $same"
done
for package in "$folder"/rota-mpi_*.deb; do
  [[ -f $package ]] || continue
  ! files_of "$package" | grep -vE '/(doc/rota-mpi/copyright$|rota/mpi|librota_mpi_|cmake/rota/rota-mpi|rotarun-pmix)' ||
    fail "rota-mpi has the files above"
  expect_depends rota-mpi "rota $same" "librota0.1 $same"
done
# dpkg installs no package over one of another name that has the same headers.
for package in "$folder"/librota-{cuda,nccl}0.1_*.deb; do
  [[ -f $package ]] || continue
  for field in Provides Conflicts Replaces; do
    [[ $(dpkg-deb -f "$package" $field) =~ ^librota-(cuda|nccl)$ ]] || fail "$package lacks $field"
  done
done
# Some processors of systems that are called armhf cannot run the programs.
preinst=
[[ $(dpkg --print-architecture) != armhf ]] || preinst=./preinst
for package in "$folder"/*.deb; do
  [[ $(dpkg-deb -f "$package" Architecture) == "$(dpkg --print-architecture)" ]] ||
    fail "$package is for another architecture"
  files_of "$package" | grep -qx "share/doc/$(dpkg-deb -f "$package" Package)/copyright" ||
    fail "$package has no licence"
  [[ $(dpkg-deb -f "$package" Description) == *rota* ]] || fail "$package has no description"
  [[ $(dpkg-deb --ctrl-tarfile "$package" | tar -t | grep -x ./preinst) == "$preinst" ]] ||
    fail "$package must have ${preinst:-no script} to be run before it is installed"
done

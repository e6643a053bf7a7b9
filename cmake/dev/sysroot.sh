# Extracts Debian's libraries for another architecture into a folder, so that rota can be compiled
# for it here. The packages are extracted and not installed: no script of theirs runs, and the
# system's own packages stay as they are.
# shellcheck shell=bash
source cmake/dev/record.sh

# The libraries that rota links, the C library, and what the tests need.
sysroot_packages=(libc-ares-dev libc6-dev libcxxopts-dev libeigen3-dev libgmock-dev libgtest-dev
  libhwloc-dev libopenblas-pthread-dev libprotozero-dev libssl-dev libstdc++-12-dev libyaml-cpp-dev
  nlohmann-json3-dev zlib1g-dev)

# The programs of ranks that the tests in tests/arm/ start in emulators.
mixed_programs=(given_gradients trained_weights mnist)

# Prints where apt of this machine gets Debian 12 from.
debian_mirror() {
  # shellcheck disable=SC2016  # apt-get expands the names.
  apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Release: bookworm' \
    'Component: main' | sed -n 1p | grep . ||
    die "arm: apt of this machine has no source of Debian 12, bookworm, so no libraries can be fetched"
}

# has_sysroot ARCHITECTURE succeeds if the libraries were extracted before.
has_sysroot() { [[ $(cat "$kept/arm/$1/complete" 2>/dev/null) == "${sysroot_packages[*]}" ]]; }

# make_sysroot ARCHITECTURE extracts the libraries into $kept/arm/ARCHITECTURE, unless that folder
# has them. Its file `complete` lists the packages.
make_sysroot() {
  local folder=$kept/arm/$1 wanted=${sysroot_packages[*]} mirror
  mkdir -p "$kept/arm"
  # Two commands may want the same libraries at the same time.
  exec 9>"$folder.lock"
  flock 9
  if ! has_sysroot "$1"; then
    say "extracting Debian's libraries for $1 into $folder"
    mirror=$(debian_mirror)
    rm -rf "$folder"
    # Only the main suite: other suites may lack a version that another architecture has.
    mmdebstrap --quiet --arch="$1" --variant=extract --include="${wanted// /,}" bookworm "$folder" \
      "$mirror" >"$folder.log" 2>&1 ||
      die "arm: the libraries cannot be extracted (see $folder.log)"
    echo "$wanted" >"$folder/complete"
    rm -f "$folder.log"
  fi
  # Programs look for OpenBLAS there. On a board, a script of the package makes this link.
  local library
  for library in "$folder"/usr/lib/*/openblas-pthread/libopenblas.so.0; do
    ln -sf "openblas-pthread/${library##*/}" "${library%/*/*}/${library##*/}"
  done
  # Some links name a library by its path on a board, which is no path here. Programs would be linked
  # with the static library instead.
  find "$folder/usr/lib" -type l -name '*.so*' -lname '/*' | while read -r library; do
    ln -srfn "$folder$(readlink "$library")" "$library"
  done
  exec 9>&-
}

# fetch_packages ARCHITECTURE FOLDER PACKAGE... downloads packages of another architecture into the
# folder. It installs nothing, and leaves this machine's apt as it is.
fetch_packages() {
  local state=$2/apt mirror
  mirror=$(debian_mirror)
  mkdir -p "$state/lists/partial" "$state/cache"
  echo "deb $mirror bookworm main" >"$state/sources.list"
  local apt=(apt-get -qq -o APT::Architecture="$1" -o APT::Architectures="$1"
    -o Dir::Etc::sourcelist="$state/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o Dir::State::lists="$state/lists" -o Dir::State::status=/dev/null
    -o Dir::Cache="$state/cache" -o APT::Sandbox::User=root)
  { "${apt[@]}" update && (cd "$2" && "${apt[@]}" download "${@:3}"); } >"$2/log" 2>&1 ||
    die "${*:3}: packages of $1 cannot be downloaded (see $2/log)"
  rm -rf "$state" "$2/log"
}

# can_fetch ARCHITECTURE succeeds if this machine can fetch packages of the architecture: it fetches
# a small one.
can_fetch() (
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  fetch_packages "$1" "$folder" zlib1g >/dev/null 2>&1
)

# arm_obstacle prints what is missing for the tests on ARM, after ./dev has tried to install it.
arm_obstacle() {
  local packages lacking architecture
  read -ra packages <<<"$(packages_of arm)"
  mapfile -t lacking < <(missing_of "${packages[@]}")
  ((${#lacking[@]} == 0)) || { echo "there is no ${lacking[*]}" && return; }
  for architecture in arm64 armhf; do
    has_sysroot "$architecture" || can_fetch "$architecture" ||
      { echo "no packages of $architecture can be fetched" && return; }
  done
}

# The packages that have the shared libraries which rota's programs load.
run_time_packages=(libc-ares2 libc6 libgcc-s1 libhwloc15 libopenblas0-pthread libssl3 libstdc++6
  libyaml-cpp0.7 zlib1g)

# make_package_records ARCHITECTURE makes $kept/arm/ARCHITECTURE.dpkg, the records that dpkg would
# have if the packages of the sysroot were installed: dpkg-shlibdeps finds a library's package there.
make_package_records() {
  local folder=$kept/arm/$1.dpkg wanted=${run_time_packages[*]} debs package name
  [[ $(cat "$folder/complete" 2>/dev/null) != "$wanted" ]] || return 0
  say "reading which packages of $1 have which libraries"
  rm -rf "$folder"
  debs=$folder/debs
  mkdir -p "$folder/info" "$folder/updates" "$debs"
  fetch_packages "$1" "$debs" "${run_time_packages[@]}"
  printf '%s\n' "$(dpkg --print-architecture)" "$1" >"$folder/arch"
  echo 1 >"$folder/info/format"
  for package in "$debs"/*.deb; do
    name=$(dpkg-deb -f "$package" Package)
    [[ $(dpkg-deb -f "$package" Multi-Arch) != same ]] || name=$name:$1
    dpkg-deb -e "$package" "$debs/control"
    for file in symbols shlibs; do
      [[ ! -f $debs/control/$file ]] || cp "$debs/control/$file" "$folder/info/$name.$file"
    done
    { dpkg-deb -f "$package" && printf 'Status: install ok installed\n\n'; } >>"$folder/status"
    # The libraries lie in the sysroot.
    dpkg-deb --fsys-tarfile "$package" | tar -t | sed "s|^\./|$kept/arm/$1/|; s|/$||" \
      >"$folder/info/$name.list"
    rm -rf "$debs/control"
  done
  rm -rf "$debs"
  echo "$wanted" >"$folder/complete"
}

# Makes the files of an emulated ARM computer, and boots it: `./dev arm --machine`.
# shellcheck shell=bash
source cmake/dev/commands/packages.sh
source cmake/dev/sysroot.sh

# librota0.1 and rota together: a board gets them over a slow network, onto a small card.
most_package_bytes=3000000

# test_machines [ARCHITECTURE...]
test_machines() {
  local architecture
  (($#)) || set -- arm64 armhf
  for architecture; do
    [[ $architecture =~ ^(arm64|armhf)$ ]] ||
      die "arm: --machine takes arm64 or armhf, not '$architecture'"
  done
  setup machine
  for architecture; do test_machine "$architecture"; done
}

# test_machine ARCHITECTURE makes rota's packages, and trains with them on an emulated computer.
test_machine() {
  local root=build/machine/$1 status=0
  command_packages "$1"
  judge_packages "$1"
  fetch_machine arm64
  fetch_machine "$1"
  say "making the files of the machine in $root"
  make_root "$1" "$root"
  say "booting an emulated computer with four Cortex-A53 and programs of $1"
  bash cmake/dev/machine/boot.sh "$kept/arm/arm64.machine/vmlinuz" "$root" || status=$?
  ((status == 0)) || exit "$status"
}

packages_on_boards() { ls build/packages/{librota0.1,rota}_*_"$1".deb; }

# judge_packages ARCHITECTURE ends the command if the packages are too large.
judge_packages() {
  local bytes
  bytes=$(packages_on_boards "$1" | xargs cat | wc -c)
  say "librota0.1 and rota for $1 have $bytes bytes; at most $most_package_bytes are allowed"
  ((bytes <= most_package_bytes)) || die "arm: the packages of $1 are too large"
}

# fetch_machine ARCHITECTURE fetches what the machine has from Debian, besides the libraries of the
# sysroot, into $kept/arm/ARCHITECTURE.machine. The kernel is that of arm64: it runs programs of
# armhf too.
fetch_machine() {
  local folder=$kept/arm/$1.machine wanted=(busybox-static time) package
  [[ $1 != arm64 ]] || wanted+=(linux-image-arm64)
  [[ $(cat "$folder/complete" 2>/dev/null) != "${wanted[*]}" ]] || return 0
  say "fetching ${wanted[*]} for $1"
  rm -rf "$folder"
  mkdir -p "$folder/debs" "$folder/files"
  fetch_packages "$1" "$folder/debs" "${wanted[@]}"
  if [[ $1 == arm64 ]]; then
    # That package is empty: it depends on the newest kernel.
    package=$(dpkg-deb -f "$folder"/debs/linux-image-arm64_*.deb Depends)
    fetch_packages "$1" "$folder/debs" "${package%% *}"
    dpkg-deb --fsys-tarfile "$folder/debs/${package%% *}"_*.deb |
      tar -xO --wildcards './boot/vmlinuz-*' >"$folder/vmlinuz"
  fi
  for package in busybox-static time; do
    dpkg-deb -x "$folder/debs/$package"_*.deb "$folder/files"
  done
  mv "$folder/files/bin/busybox" "$folder/files/usr/bin/time" "$folder"
  rm -rf "$folder/debs" "$folder/files"
  echo "${wanted[*]}" >"$folder/complete"
}

# make_root ARCHITECTURE ROOT makes the files of the machine: rota's packages, the libraries that
# they need, the example, some images, and programs that measure.
make_root() {
  local package root=$2
  rm -rf "$root"
  mkdir -p "$root"/{dev,proc,sys,tmp,images,usr/bin,usr/lib}
  ln -s usr/bin usr/lib "$root"
  for package in $(packages_on_boards "$1"); do dpkg-deb -x "$package" "$root"; done
  cp "build/package-$1/bin/mnist" "$kept/arm/$1.machine"/{busybox,time} "$root/usr/bin"
  cp cmake/dev/machine/{init,job.sh,smaps.awk} "$root"
  python3 cmake/dev/machine/few_images.py "$root/images"
  k8s/image/closure.sh "$root" --sysroot "$kept/arm/$1"
}

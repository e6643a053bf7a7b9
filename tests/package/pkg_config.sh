#!/usr/bin/env bash
# pkg_config.sh FORM PREFIX MAIN OUTPUT COMPILER: builds a trainer with only the compiler and
# pkg-config.
set -euo pipefail
form=$1 prefix=$2 main=$3 output=$4 compiler=$5

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name rota.pc)")
export PKG_CONFIG_PATH
own=(-std=c++20 -Wall -Wextra -Wpedantic -Werror)
read -ra cflags < <(pkg-config --cflags rota)
[[ ${#cflags[@]} == 1 && ${cflags[0]} == -I* ]] || {
  echo "pkg-config --cflags rota must print one flag -I, but prints: ${cflags[*]}" >&2
  exit 1
}
if [[ $form == shared ]]; then
  read -ra libs < <(pkg-config --libs rota)
  LD_LIBRARY_PATH=$(pkg-config --variable=libdir rota)
  export LD_LIBRARY_PATH
else
  read -ra libs < <(pkg-config --static --libs rota)
  libs=("${libs[@]/#-lrota/-l:librota.a}")
fi
mkdir -p "$(dirname "$output")"
"$compiler" "${own[@]}" "${cflags[@]}" "$main" -o "$output" "${libs[@]}"
"$prefix/bin/rotarun" -np 2 --deadline 20 --timeout 60 "$output" 2

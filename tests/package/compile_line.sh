#!/usr/bin/env bash
# compile_line.sh BUILD INCLUDES: a project that uses rota is compiled with its own flags, C++20 and
# the folder of rota's public headers; nothing that rota stands on comes along.
set -euo pipefail
build=$1 includes=$2

line=$(sed -n 's/^ *"command": "\(.*\) -o .*main\.cpp.*/\1/p' "$build/compile_commands.json")
read -ra words <<<"$line"
found=0
for word in "${words[@]:1}"; do
  case $word in
    -I* | -isystem) ;;
    "$includes") found=1 ;;
    -Wall | -Wextra | -Wpedantic | -Werror | -std=*20) ;;
    *)
      echo "'$word' has come along: $line" >&2
      exit 1
      ;;
  esac
  [[ $word != -I* ]] || { [[ ${word#-I} == "$includes" ]] && found=1; } || {
    echo "'$word' has come along: $line" >&2
    exit 1
  }
done
((found)) || {
  echo "$includes is not among: $line" >&2
  exit 1
}

#!/usr/bin/env bash
# compile_line.sh BUILD INCLUDES: a project that uses rota compiles with its own flags, with C++20
# and with the folder of rota's public headers. The project gets no flag of rota's own dependencies.
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
      echo "the compile command has '$word', which the project did not ask for: $line" >&2
      exit 1
      ;;
  esac
  [[ $word != -I* ]] || { [[ ${word#-I} == "$includes" ]] && found=1; } || {
    echo "the compile command has '$word', which the project did not ask for: $line" >&2
    exit 1
  }
done
((found)) || {
  echo "the compile command lacks the folder of rota's headers, $includes: $line" >&2
  exit 1
}

#!/usr/bin/env bash
# run.sh SOURCES SCRIPT [ARGUMENT...] runs a Python script of this folder with the libraries that
# ./dev setup judges has installed. Exits with 77 if they are missing.
set -euo pipefail
cd "$1"
source cmake/dev/say.sh
source cmake/dev/judges.sh
if ! has_judges; then
  echo "there are no judges: ./dev setup judges installs them"
  exit 77
fi
exec "$(judges_folder)/bin/python" -B "tests/judges/$2" "${@:3}"

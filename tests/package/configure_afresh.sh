#!/usr/bin/env bash
# configure_afresh.sh SOURCE BUILD ARGUMENT...: configures a project in a new folder.
set -euo pipefail
rm -rf "$2"
cmake -S "$1" -B "$2" "${@:3}" >/dev/null

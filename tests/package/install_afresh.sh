#!/usr/bin/env bash
# install_afresh.sh BUILD STAGE: installs a build for /usr/local below an empty folder. So the tests
# that use this package use a package that was moved.
set -euo pipefail
rm -rf "$2"
DESTDIR=$2 cmake --install "$1" --prefix /usr/local >/dev/null

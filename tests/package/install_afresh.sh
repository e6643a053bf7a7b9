#!/usr/bin/env bash
# install_afresh.sh BUILD STAGE [COMPONENT...]: installs a build, or those components of it, for
# /usr/local below an empty folder. So the tests that use this package use a package that was moved.
set -euo pipefail
rm -rf "$2"
install_it() { DESTDIR=$2 cmake --install "$1" --prefix /usr/local "${@:3}" >/dev/null; }
(($# > 2)) || install_it "$@"
for component in "${@:3}"; do install_it "$1" "$2" --component "$component"; done

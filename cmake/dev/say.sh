# How ./dev speaks: what it is at, and what stopped it.
# shellcheck shell=bash

say() { echo "==> $*"; }

die() {
  echo "dev: $*" >&2
  exit 2
}

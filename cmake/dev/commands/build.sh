# ./dev build [PRESET]
# shellcheck shell=bash

command_build() {
  setup build test $([[ ${1:-} != asan ]] || echo sanitize)
  [[ ${1:-release} =~ ^(release|debug|asan|tsan)$ ]] || die "build: there is no preset '$1'; the \
presets are release, debug, asan and tsan"
  configure_all "${1:-release}"
  compile "${1:-release}"
}

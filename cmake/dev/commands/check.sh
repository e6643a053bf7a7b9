# ./dev check [--all]
# shellcheck shell=bash
source cmake/dev/record.sh
source cmake/dev/lint.sh
source cmake/dev/commands/docs.sh

command_check() {
  local failed=()
  [[ -z ${1:-} || $1 == --all ]] || die "check: the only argument is --all, not '$1'"
  setup build test check docs
  say "clang-format"
  find lib launcher examples benchmarks tests -type f '(' -name '*.h' -o -name '*.cpp' ')' -print0 |
    xargs -0 clang-format --dry-run -Werror || failed+=(clang-format)
  configure_all tidy
  lint "$@" || failed+=(clang-tidy)
  build_docs || failed+=(docs)
  configure_all release
  compile release style_test public_headers_alone public_headers_alone_clang
  run_tests release -L style || failed+=(style)
  ((${#failed[@]} == 0)) || die "check: these checks failed: ${failed[*]}"
}

#!/usr/bin/env bash
# ./dev test runs the right tests: by default all tests except long ones, with --all every test. A
# filter chooses among all tests.
# ShellCheck does not know that expect calls functions.
# shellcheck disable=SC2317

source "$(dirname "${BASH_SOURCE[0]}")/small_tree.sh"
make_tree tree

# ran TEST...: exactly these tests ran.
ran() {
  diff <(printf '%s\n' "$@") \
    <(sed -n 's/^ *[0-9]*\/[0-9]* Test *#[0-9]*: \([a-z]*\) .*/\1/p' output | sort)
}

run 0 tree/dev test
expect "the long one is left out" ran one
run 0 tree/dev test --all
expect "--all runs all tests" ran lasting one
run 0 tree/dev test -L hosts
expect "-L chooses among all" ran lasting
run 0 tree/dev test -R .
expect "-R chooses among all" ran lasting one
run 0 tree/dev test -V
expect "an option that does not choose tests changes nothing" ran one
run 8 tree/dev test -R nothing_is_called_so
expect "no test is an error" says 'No tests were found'

sed -i 's/return 0/return 3/' tree/lib/one.cpp
run 8 tree/dev test
expect "a test that fails is named" says '1 - one \(Failed\)'
echo 'int main() { return no_such_name; }' >tree/lib/one.cpp
run 1 tree/dev test
expect "the compiler is heard" says "no_such_name.* was not declared"
expect "no test runs after a failed build" says_not 'Test +#'
exit "$failures"

#!/usr/bin/env bash
# If packages are missing and cannot be installed, ./dev prints one sentence and builds nothing.
source "$(dirname "${BASH_SOURCE[0]}")/small_tree.sh"
make_tree tree

# A half-configured package counts as missing.
fake dpkg-query <<'SH'
for package in "${@:3}"; do
  [[ $package == cmake ]] && status=half-configured || status=installed
  echo "$status $package"
done
SH
fake sudo <<'SH'
exec "${@:2}"
SH
fake dpkg <<'SH'
echo "dpkg $*" >>calls
SH
fake apt-get <<'SH'
echo "apt-get ${*: -1}" >>calls
SH
run 0 tree/dev setup
expect "what is half-configured is configured, then installed" \
  diff tree/calls <(printf '%s\n' 'dpkg --force-confdef --force-confold --configure -a' \
    'apt-get update' 'apt-get cmake')

# There is no network.
fake apt-get <<'SH'
[[ $* == *install* ]] || exit 0
echo "Err:1 http://deb.debian.org bookworm/main cmake"
echo "E: Unable to fetch some archives, maybe run apt-get update or try with --fix-missing?" >&2
exit 100
SH
run 2 tree/dev demo
expect "./dev prints what it does, and one sentence" test "$(wc -l <output)" = 2
expect "the sentence has the reason that apt gave" \
  says '^dev: packages cannot be installed \(E: Unable to fetch'
expect "the sentence names the missing package" says 'nothing was built.*: cmake$'
expect "nothing is built" test ! -e tree/build

# The next package is optional.
fake dpkg-query <<'SH'
for package in "${@:3}"; do
  [[ $package == ccache ]] && status=half-configured || status=installed
  echo "$status $package"
done
SH
run 0 tree/dev setup
expect "./dev continues without an optional package" \
  says '^==> continuing without ccache \(E: Unable to fetch'
sed -i 's/== ccache/== cmake/' fake/dpkg-query

# The user has no root rights. If the test has them, it gives them up.
fake sudo <<'SH'
exit 1
SH
chmod -R a+rX "$work"
as_nobody=()
((EUID != 0)) || as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
run 2 "${as_nobody[@]}" tree/dev demo
expect "./dev prints the command that installs the package" \
  says 'sudo apt-get install --no-install-recommends cmake'
expect "nothing is built" test ! -e tree/build
exit "$failures"

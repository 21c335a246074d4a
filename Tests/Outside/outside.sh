#!/usr/bin/env bash
# Tests the state library and the simulator from outside: a package of its own, in a temporary directory, that depends on the
# library's products by path, as README.md shows it. Checks that it fetches only what it needs, that it
# builds, and that its tests pass. Takes about 3 minutes on 2 cores, most of them for swift-syntax where
# there is no prebuilt one.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
. "$here/../Interop/lib.sh"
. "$here/../count.sh"

ln -s "$(cd "$here/../.." && pwd)" "$folder/livehost"
cp -R "$here" "$folder/Show"
cd "$folder/Show" || exit 1
# Information for debuggers is of no use here.
options=(--build-tests -j "${JOBS:-$(nproc)}" -debug-info-format none)

resolve() { swift package resolve >"$folder/log" 2>&1 || { tail -n 20 "$folder/log"; false; }; }
build() {
  swift build "${options[@]}" >"$folder/log" 2>&1 || { grep -E 'error:|warning:' "$folder/log" | head -n 40; false; }
}

check 'the package is resolved' resolve
check 'only the packages are fetched that the state library needs' \
  test "$(ls .build/checkouts | xargs)" = 'swift-custom-dump swift-syntax xctest-dynamic-overlay'
check 'README.md shows how to depend on the library as this package does' \
  grep -qF "$(grep -F '.package(path:' Package.swift)" "$here/../../README.md"
check 'the package is built' build
check 'without warnings' test "$(grep -c 'warning:' "$folder/log")" -eq 0
test_built "$folder/log" Tests/ShowTests --filter ShowTests
test_built "$folder/log" Tests/BoxOfficeTests --filter BoxOfficeTests
simulation() { .build/debug/box-office "$@"; }
check 'a simulation of its own screen is the same in two processes, byte for byte' \
  cmp <(simulation 7) <(simulation 7)
check 'and another one with another seed' test "$(simulation 7)" != "$(simulation 8)"
finish

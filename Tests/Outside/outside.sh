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

fetched() { ls .build/checkouts | xargs; }
readme_says() { grep -qF "$1" "$here/../../README.md"; }

cp Package.swift "$folder/Package.swift"
sed -i 's/traits: \["HangCommand"\]/traits: []/' Package.swift
check 'the package is resolved' resolve
check 'only the packages are fetched that the state library needs' \
  test "$(fetched)" = 'swift-custom-dump swift-syntax xctest-dynamic-overlay'
check 'README.md shows how to depend on the library so' readme_says "$(grep -F '.package(path:' Package.swift)"
cp "$folder/Package.swift" Package.swift
check 'it is resolved with the command line for simulations' resolve
check 'which needs one more' test "$(fetched)" = 'swift-argument-parser swift-custom-dump swift-syntax xctest-dynamic-overlay'
check 'README.md says how to ask for it' readme_says "$(grep -oF 'traits: ["HangCommand"]' Package.swift)"
check 'the package is built' build
check 'without warnings' test "$(grep -c 'warning:' "$folder/log")" -eq 0
test_built "$folder/log" Tests/ShowTests --filter ShowTests
test_built "$folder/log" Tests/BoxOfficeTests --filter BoxOfficeTests

# Three lines of code give a program for its own screen.
office=.build/debug/box-office
# Leaves the text, the page, the trace and the files for CI in a folder.
simulation() {
  mkdir -p "$1"
  "$office" simulate --seed "$2" --html "$1/html" --trace "$1/trace" --junit "$1/junit" --markdown "$1/md" >"$1/text" \
    && "$office" simulate --seed "$2" --json >"$1/json"
}
status() { "$@" >"$folder/out" 2>"$folder/err"; echo $?; }
xml() { python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$1"; }

check 'a program of its own simulates its screen' simulation "$folder/one" 7
check 'and once more' simulation "$folder/two" 7
check 'two processes give the same, byte for byte' diff -r "$folder/one" "$folder/two"
check 'and another one with another seed' simulation "$folder/three" 8
check 'which differs' test "$(cmp -s "$folder/one/json" "$folder/three/json"; echo $?)" -eq 1
check 'JUnit is XML' xml "$folder/one/junit"
check 'with a test for each threshold' test "$(grep -c '<testcase' "$folder/one/junit")" -eq 2
check 'a threshold that is not met has an exit code' \
  test "$(status "$office" simulate --threshold 'longest < 1ms & <' --threshold 'longest < 1ms' --device phone)" -eq 64
check 'of its own' \
  test "$(status "$office" simulate --threshold 'longest < 1ms' --device phone --junit "$folder/failed")" -eq 99
check 'the verdict is first' test "$(head -n 1 "$folder/out")" = '1 of 3 thresholds not met'
check 'the failure is XML' xml "$folder/failed"
check 'and names value and run' grep -q 'failure message="[0-9.]*ms in phone, default"' "$folder/failed"
check 'no colour in a file' test "$(grep -c $'\e' "$folder/out")" -eq 0
check 'names of devices are checked, with suggestions' test "$(status "$office" simulate --device phon)" -eq 64
check 'of which the message tells' grep -q "did you mean 'phone'" "$folder/err"
check 'names of views, too' \
  test "$(status "$office" simulate --threshold 'view(QueueVew).mean < 2ms')" -eq 78
check 'of which the message tells as well' grep -q "did you mean 'QueueView'" "$folder/err"
check 'a sweep' test "$(status "$office" sweep --seeds 8 --workers 1 --device phone)" -eq 0
cp "$folder/out" "$folder/sweep"
check 'and again with four workers' \
  test "$(status "$office" sweep --seeds 8 --workers 4 --device phone)" -eq 0
check 'gives the same' cmp "$folder/out" "$folder/sweep"
check 'a comparison by pairs' test "$(status "$office" compare --seeds 8 --device phone)" -eq 0
check 'finds the difference' grep -q 'longest .* more than noise' "$folder/out"
check 'the slowdown is found at which it hangs' \
  test "$(status "$office" sweep --find device.slowdown --where 'hangs > 0' --device phone --variant fewer)" -eq 0
check 'or that there is none' grep -qE '(from [0-9.]+ x on|does not hold)' "$folder/out"
finish

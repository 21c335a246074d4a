#!/usr/bin/env bash
# Tests the macros of the state library: what they expand to, what they refuse, and the remedies that they name.
# Takes about 2 minutes on 2 cores, most of them for swift-syntax where there is no prebuilt one. Ends with
# `N passed, N failed`.
set -uo pipefail
cd "$(dirname "$0")" || exit 1
. ../Interop/lib.sh
. ../count.sh
built=../../.build/macros
mkdir -p "$built"
log=$built/test.log

check 'the tests of the macros are built' \
  swift build --build-tests --scratch-path "$built" -j "${JOBS:-$(nproc)}" -debug-info-format none
swift test --skip-build --scratch-path "$built" 2>&1 | tee "$log" |
  grep -E '^. (Test|Suite) .*failed|recorded an issue|Test run with|error:'
count_tests "$log"
check 'all of them were run' test "$total" -eq "$(cat ./*.swift | grep -c '@Test')"
passed=$((passed + total - bad)) failed=$((failed + bad))
finish

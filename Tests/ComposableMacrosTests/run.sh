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

check 'the tests of the macros are built' \
  swift build --build-tests --scratch-path "$built" -j "${JOBS:-$(nproc)}" -debug-info-format none
test_built "$built/test.log" . --scratch-path "$built"
finish

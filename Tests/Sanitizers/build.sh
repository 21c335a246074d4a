#!/usr/bin/env bash
# Builds with a sanitizer in .build/KIND: `build.sh KIND [OPTION...]`, where the options are those
# of swift build and KIND is one of
#
#   thread   finds data races. Not optimised, so that no access is optimised away. address  finds
#   errors of memory, and undefined behaviour of C and C++ (swiftc checks Swift's own). Also counts
#            edges for libFuzzer, so that tests and fuzzers share an optimised build.
#   edges    only counts edges for libFuzzer, and those of Swift only: libraries of C have as many
#   again, and libFuzzer
#            looks at all of them behind each input. swiftc's own checks stay.
#
# Prints nothing unless it fails.
set -euo pipefail
cd "$(dirname "$0")/../.."
directory=.build/$1
options=(-j "${JOBS:-$(nproc)}" --scratch-path "$directory" -debug-info-format none -Xswiftc -gline-tables-only)
[ "$1" = edges ] || options+=(--sanitize="$1")
if [ "$1" = address ]; then
  # Where `vptr` looks at types at run time it needs a library that only clang++ links.
  options+=(-Xcc -fsanitize=undefined -Xcc -fno-sanitize=vptr -Xcc -fsanitize=fuzzer-no-link)
fi
if [ "$1" != thread ]; then
  export LIVEHOST_FUZZERS=1
  options+=(-c release
    -Xlinker "$(clang -print-file-name="libclang_rt.fuzzer_no_main-$(uname -m).a")"
    -Xlinker -lstdc++ -Xlinker -lm)
fi
shift
mkdir -p "$directory"
swift build "${options[@]}" "$@" >"$directory/build.log" 2>&1 || {
  grep -E 'error:' "$directory/build.log" | head -n 20
  tail -n 20 "$directory/build.log"
  exit 1
}

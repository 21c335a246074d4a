#!/usr/bin/env bash
# Builds with a sanitizer in .build/KIND: `build.sh KIND [OPTION...]`. The options are passed to
# swift build. Prints nothing unless the build fails. KIND is one of
#
#   thread   finds data races. The build is not optimised, so that no access is optimised away.
#   address  finds memory errors, and undefined behaviour of C and C++ (swiftc itself checks Swift).
#            Also counts edges for libFuzzer, so that tests and fuzzers share an optimised build.
#   edges    only counts edges for libFuzzer, in Swift code only: C libraries would double the
#            number of counters, all of which libFuzzer examines after each input.
set -euo pipefail
cd "$(dirname "$0")/../.."
directory=.build/$1
options=(-j "${JOBS:-$(nproc)}" --scratch-path "$directory" -debug-info-format none -Xswiftc -gline-tables-only)
[ "$1" = edges ] || options+=(--sanitize="$1")
if [ "$1" = address ]; then
  # The `vptr` check needs a run-time library that only clang++ links.
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

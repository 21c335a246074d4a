#!/usr/bin/env bash
# All tests: those of the package, then the scripts that need other programs or a booted system.
# Ends with `N passed, N failed, N skipped`; fails if anything failed. What was skipped is said aloud.
set -uo pipefail
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)}
logs=.build/test-logs
mkdir -p "$logs"
passed=0 failed=0 skipped=0
started=$SECONDS

count() { # log of a script that ends with `N passed, N failed[, N skipped]`
  local line
  line=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$1" | tail -n 1)
  if [[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed(,\ ([0-9]+)\ skipped)? ]]; then
    passed=$((passed + BASH_REMATCH[1]))
    failed=$((failed + BASH_REMATCH[2]))
    skipped=$((skipped + ${BASH_REMATCH[4]:-0}))
  else
    echo "run.sh: $1 has no closing count: taken as a failure"
    failed=$((failed + 1))
  fi
}

echo "== building the programs and the tests ($jobs jobs; some 15 minutes from nothing on 2 cores)"
# Without testable imports, which no test uses, tests link what `make run` built instead of compiling it anew.
if ! swift build -c release -j "$jobs" --disable-testable-imports --build-tests 2>&1 | tee "$logs/build.log" |
  grep --line-buffered -E '^\[[0-9]*[05]/|error|warning: unre|Build complete'; then
  echo "== the build failed"
  tail -n 40 "$logs/build.log"
  echo "0 passed, 1 failed"
  exit 1
fi

echo "== tests of the package"
swift test -c release --disable-testable-imports --skip-build --no-parallel 2>&1 | tee "$logs/package.log" |
  grep --line-buffered -E 'Suite .*(passed|failed)|✘|✖|error:|Test run with|crash|Fatal' 
status=${PIPESTATUS[0]}
if [[ $(grep -E 'Test run with [0-9]+ tests' "$logs/package.log" | tail -n 1) =~ with\ ([0-9]+)\ tests ]]; then
  total=${BASH_REMATCH[1]}
else
  total=0
fi
bad=$(grep -E '^. Test .* failed after' "$logs/package.log" | grep -cvE '^. Test run with')
if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1; fi
if [ "$total" -eq 0 ]; then bad=1; fi
passed=$((passed + (total > bad ? total - bad : 0)))
failed=$((failed + bad))

script() { # name, command...: runs a script that prints its own closing count
  local name=$1
  shift
  echo "== $*"
  "$@" 2>&1 | tee "$logs/$name.log"
  count "$logs/$name.log"
}

bin=$(swift build -c release --show-bin-path)
script documentation Tests/documentation.sh "$bin"
script certification Tests/Interop/certification.sh "$bin/CertificationService"
script varlink-client Tests/Interop/with-daemon.sh "$bin" Tests/Interop/cli.sh
script varlinkctl Tests/Interop/varlinkctl.sh "$bin"
script exit-codes Tests/Interop/exit-codes.sh "$bin"
script fuzz Tests/Interop/fuzz.sh "$bin"
script completion Tests/Interop/completion.sh "$bin"
script screen Tests/Interop/screen.sh "$bin"
script kills Tests/kills.py "$bin" 10
script journal Tests/journal.py "$bin"
script metrics Tests/Interop/metrics.sh "$bin"
script system Tests/System/smoke.sh "$bin"
script package Tests/System/package.sh "$bin"

echo
echo "$((SECONDS - started)) s"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]

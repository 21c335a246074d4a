#!/usr/bin/env bash
# Runs all Swift tests under sanitizers: `sanitize.sh [thread] [address]`. `address` also finds
# undefined behaviour of C and C++. Tests/Sanitizers/build.sh builds each kind in its own directory.
#
# All code that SwiftPM builds is instrumented. Libraries of the system and of the toolchain are not
# instrumented, but their calls to the C library are checked. No report is suppressed.
# Tests/Sanitizers/mutex.c makes the standard library's locks visible to the thread sanitizer.
# Leaks are not reported, because the test runner has some; memory tests detect them instead.
# LIVEHOST_FUZZ sets the number of random programs.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
# Lines of Swift Testing begin with a symbol of three bytes, coloured if TERM is set. A UTF-8 locale
# lets grep match the symbol as one character.
export SWIFT_BACKTRACE=enable=no LC_ALL=C.UTF-8 NO_COLOR=1
passed=0 failed=0 skipped=0

wrong() { # what
  echo "FAILED: $1"
  failed=$((failed + 1))
}

# Checks that a sanitizer reports its kind of error, and no error for a counter guarded by a Mutex.
probe() { # thread or address, the expected report
  local program=$directory/probe
  if ! swiftc -sanitize="$1" Tests/Sanitizers/probe.swift -o "$program" >"$directory/probe.log" 2>&1; then
    cat "$directory/probe.log"
    wrong "the probe of the $1 sanitizer is not built"
  elif ! "$program" guarded >"$directory/probe.log" 2>&1; then
    wrong "the $1 sanitizer reports a counter that a Mutex guards"
  elif "$program" "$2" >"$directory/probe.log" 2>&1; then
    wrong "the $1 sanitizer does not report: $2"
  else
    passed=$((passed + 1))
  fi
}

run() { # thread or address
  local directory=$PWD/.build/$1 log=$PWD/.build/$1/test.log reports=$PWD/.build/$1/reports
  local total bad found without status configuration=debug
  echo "== $1 sanitizer: building"
  Tests/Sanitizers/build.sh "$1" --build-tests || {
    wrong "the build with the $1 sanitizer"
    return
  }
  mkdir -p "$reports"
  rm -f "$reports"/*
  echo "== $1 sanitizer: testing"
  case $1 in
    thread)
      clang -shared -fPIC -O1 Tests/Sanitizers/mutex.c -o "$directory/mutex.so" || exit 1
      export LD_PRELOAD=$directory/mutex.so
      probe thread race
      export TSAN_OPTIONS=log_path=$reports/report ;;
    address)
      configuration=release
      export ASAN_OPTIONS=detect_leaks=0
      probe address overflow
      export ASAN_OPTIONS=$ASAN_OPTIONS:log_path=$reports/report
      export UBSAN_OPTIONS=print_stacktrace=1:log_path=$reports/report ;;
  esac
  swift test -c $configuration --disable-testable-imports --scratch-path "$directory" --sanitize="$1" --skip-build \
    --no-parallel >"$log" 2>&1
  status=$?
  unset LD_PRELOAD TSAN_OPTIONS ASAN_OPTIONS UBSAN_OPTIONS
  read -r total without bad < <(python3 Tests/Support/harness/swift.py "$log")
  grep -E '^. Test .* skipped: "|^✘' "$log"
  # Each process with a report, the tests or a program that they started, writes its own file.
  found=$(cat "$reports"/* 2>/dev/null | grep -cE '(WARNING|ERROR): [A-Za-z]+Sanitizer|runtime error')
  cat "$reports"/* 2>/dev/null | head -n 100
  if [ "$status" -ne 0 ] && [ $((bad + found)) -eq 0 ]; then
    tail -n 20 "$log"
    bad=1
  fi
  echo "$1 sanitizer: $total tests, $bad failed, $without skipped, $found reports"
  failed=$((failed + bad + found))
  skipped=$((skipped + without))
  passed=$((passed + (total > bad ? total - bad : 0)))
}

for sanitizer in "${@:-thread address}"; do for name in $sanitizer; do run "$name"; done; done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]

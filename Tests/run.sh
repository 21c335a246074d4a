#!/usr/bin/env bash
# Runs all tests: those of the Swift package, then the scripts that need other programs or a booted
# system. `run.sh lint` runs the checks of style first.
#
# Prints what was skipped and why, then what failed, and ends with `N passed, N failed`, with the number of
# skipped tests if there are any. LIVEHOST_REQUIRE_ALL=1 counts skipped tests as failed.
set -uo pipefail
cd "$(dirname "$0")/.."
. Tests/count.sh
jobs=${JOBS:-$(nproc)}
logs=.build/test-logs
rm -rf "$logs"
mkdir -p "$logs"
passed=0 failed=0 skipped=0
started=$SECONDS

# Adds the closing count of a script, `N passed, N failed[, N skipped]`. A script that fails without
# counting a failure has failed once.
count() { # name, exit status
  local line
  line=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$logs/$1.log" | tail -n 1)
  if [[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed(,\ ([0-9]+)\ skipped)?$ ]]; then
    passed=$((passed + BASH_REMATCH[1]))
    failed=$((failed + BASH_REMATCH[2]))
    skipped=$((skipped + ${BASH_REMATCH[4]:-0}))
    if [ "$2" -eq 0 ] || [ "${BASH_REMATCH[2]}" -gt 0 ]; then return; fi
  fi
  note_end "$1" "$2"
  failed=$((failed + 1))
}

# Says how something ended that did not count its failures.
note_end() { # name, exit status
  case $2 in
    124 | 137) echo "FAILED: $1 did not end in time" ;;
    *) echo "FAILED: $1 ended with status $2 and without a count of failures" ;;
  esac | tee -a "$logs/$1.log"
}

# Runs a script. A test that hangs must fail, so each has a time limit far above what it needs.
script() { # name, minutes, command...
  local name=$1 minutes=$2 begun=$SECONDS status
  shift 2
  echo "== $*"
  timeout --kill-after=30 "${minutes}m" "$@" 2>&1 | tee "$logs/$name.log"
  status=${PIPESTATUS[0]}
  echo "   $((SECONDS - begun)) s"
  count "$name" "$status"
}

finish() {
  echo
  echo "$((SECONDS - started)) s"
  if [ "$skipped" -gt 0 ] && [ "${LIVEHOST_REQUIRE_ALL:-0}" = 1 ]; then
    echo "$skipped skipped tests count as failed (LIVEHOST_REQUIRE_ALL=1)"
    failed=$((failed + skipped))
    skipped=0
  fi
  # Last, for those who see only the end.
  if [ "$failed" -gt 0 ]; then
    (cd "$logs" && grep -aE '^(FAILED|not ok|✘|lint: )|error: ' -- *.log | cut -c 1-300 | head -n 40)
  fi
  local line="$passed passed, $failed failed"
  [ "$skipped" -eq 0 ] || line+=", $skipped skipped"
  echo "$line"
  [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
  exit
}

case ${1:-} in
  '') ;;
  lint) script lint 10 Tests/Checks/lint.sh ;;
  *)
    echo "run.sh: unknown argument '$1'; usage: run.sh [lint]" >&2
    exit 64
    ;;
esac

echo "== building the programs and the tests ($jobs jobs; about 10 minutes from nothing on 2 cores)"
# With the flags of `make run`, so that tests link what it built: `swift test` would compile that anew.
if ! swift build -c release -j "$jobs" --build-tests 2>&1 | tee "$logs/build.log" |
  grep --line-buffered -E '^\[[0-9]*[05]/|error|warning: unre|Build complete'; then
  echo "== the build failed"
  tail -n 40 "$logs/build.log"
  failed=$((failed + 1))
  finish
fi

echo "== tests of the package"
# Not by `swift test`, which holds the last lines back when it is stopped: they name the test that does not end.
bin=$(swift build -c release --show-bin-path)
timeout --kill-after=30 20m "$bin/livehostPackageTests.xctest" --testing-library swift-testing --no-parallel 2>&1 |
  tee "$logs/tests.log" |
  grep --line-buffered -E 'Suite .*(passed|failed)|^. (Test|Suite) .* skipped: |✘|✖|error:|Test run with|crash|Fatal'
status=${PIPESTATUS[0]}
count_tests "$logs/tests.log"
if [ "$total" -le 0 ]; then
  note_end tests "$status"
  { echo -n 'FAILED: the last test begun: ' && grep -E '^. Test .* started' "$logs/tests.log" | tail -n 1; } |
    tee -a "$logs/tests.log"
fi
if [ "$bad" -eq 0 ] && { [ "$status" -ne 0 ] || [ "$total" -le 0 ]; }; then bad=1; fi
passed=$((passed + (total > bad ? total - bad : 0)))
failed=$((failed + bad))
skipped=$((skipped + without))

script counting 5 Tests/Checks/counting.sh "$bin"
script elsewhere 10 Tests/elsewhere.sh "$bin"
script interface 5 Tests/Checks/interface.sh "$bin"
script macros 20 Tests/ComposableMacrosTests/run.sh
script outside 20 Tests/Outside/outside.sh
script certification 10 Tests/Interop/certification.sh "$bin/CertificationService"
script four-conditions 5 Tests/Checks/four-conditions.py --program "$bin/livehostctl" check
script varlink-client 10 Tests/Interop/with-daemon.sh "$bin" Tests/Interop/cli.sh
script varlinkctl 20 Tests/Interop/varlinkctl.sh "$bin"
script exit-codes 10 Tests/Interop/exit-codes.sh "$bin"
script faults 10 Tests/Interop/faults.sh "$bin"
script fuzz 10 Tests/Interop/fuzz.sh "$bin"
script strangers 10 Tests/Interop/strangers.sh "$bin"
script growth 10 Tests/Interop/growth.sh "$bin"
script completion 10 Tests/Interop/completion.sh "$bin"
script screen 10 Tests/Interop/screen.sh "$bin"
script surface 10 Tests/Interop/surface.py "$bin"
script sources 10 Tests/Interop/sources.sh "$bin"
script eventsub 10 Tests/Interop/eventsub.sh "$bin"
script irc-clients 11 Tests/Interop/irc-clients.sh "$bin/ScriptedTwitch"
script obs 10 Tests/Interop/obs.sh "$bin"
script web 10 Tests/Interop/web.sh "$bin"
script chromium-trace 10 Tests/Interop/chromium-trace.sh "$bin"
script cluster 20 Tests/Interop/cluster.sh "$bin"
script vopr 20 Tests/vopr.sh "$bin"
script kills 10 Tests/kills.py "$bin" 10
script journal 10 Tests/journal.py "$bin"
script metrics 10 Tests/Interop/metrics.sh "$bin"
script system 30 Tests/System/smoke.sh "$bin"
script package 40 Tests/System/package.sh "$bin"
finish

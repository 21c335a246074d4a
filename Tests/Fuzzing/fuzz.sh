#!/usr/bin/env bash
# Fuzzes all parsers of untrusted input, guided by coverage: `fuzz.sh [RUNS [RUNS_OF_FILES
# [PARSER...]]]`.
#
# RUNS (10,000,000) is the number of inputs for each parser of lines, messages and interfaces.
# RUNS_OF_FILES (100,000) is the number of inputs for each other parser: whole files (YAML,
# recordings, the write-ahead log, recorded chats, snapshots), and messages of Social Stream and
# webhooks. One parser runs per processor. FUZZ_SEED repeats a run.
#
# By default, the programs are built with the address sanitizer. FUZZ_BUILD=edges omits the
# sanitizer and ignores how often code runs: only inputs that reach new code count as new. The mode
# `edges` is up to ten times as fast and suits very many inputs, after some runs with the sanitizer.
# Swift's own checks stay enabled.
#
# Inputs that reach new code are kept in .build/fuzz/corpus for later runs. A failing input is kept
# as .build/fuzz/PARSER-crash-*. To repeat it, run its program, for example
# `fuzz-lines PARSER FILE`.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
runs=${1:-10000000} runs_of_files=${2:-100000}
shift $(($# < 2 ? $# : 2))
# shellcheck disable=SC2046 # Names.
[ $# -gt 0 ] || set -- $(grep -ohE '"[a-z]+": \{' Tests/Fuzzing/fuzz-*/main.swift | cut -d '"' -f 2)
build=.build/fuzz
export seed=${FUZZ_SEED:-$(date +%s)} build kind=${FUZZ_BUILD:-address} options=
[ "$kind" != edges ] || options="-use_counters=0 -entropic=0"
# Allocations use half of the time. To save time, the quarantine of freed memory fits into the
# processor's caches, and reports name only the direct caller of an allocation. For a full report,
# repeat an input without these options.
export ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=8:malloc_context_size=1 UBSAN_OPTIONS=halt_on_error=1 SWIFT_BACKTRACE=enable=no

program() { # parser
  grep -l "\"$1\": {" Tests/Fuzzing/fuzz-*/main.swift | cut -d / -f 3
}
export -f program

for name in $(for parser in "$@"; do program "$parser"; done | sort -u); do
  echo "== building $name ($kind, seed $seed)"
  if ! Tests/Sanitizers/build.sh "$kind" --product "$name"; then
    echo '0 passed, 1 failed'
    exit 1
  fi
done
mkdir -p "$build"
Tests/Fuzzing/seeds.py "$build/seeds" || exit 1

fuzz() { # parser, inputs, their longest length in bytes
  mkdir -p "$build/corpus/$1"
  # An input needs at most some milliseconds, so ten seconds count as a hang. The parsers need
  # little memory.
  TMPDIR=$(mktemp -d -p /dev/shm) || exit 1
  export TMPDIR
  # shellcheck disable=SC2086 # Several options, or none.
  ".build/$kind/release/$(program "$1")" "$1" $options -runs="$2" -seed="$seed" -dict="$build/seeds/$1.dict" \
    -max_len="$3" -reload=0 -timeout=10 -rss_limit_mb=2048 -artifact_prefix="$build/$1-" -print_final_stats=1 \
    "$build/corpus/$1" "$build/seeds/$1" >"$build/$1.log" 2>&1
  local status=$?
  rm -rf "$TMPDIR"
  # The last progress line has the reached edges and features of the code, and the size of the
  # corpus.
  echo "$1: $(sed -nE 's/^stat::number_of_executed_units: *//p' "$build/$1.log") inputs," \
    "$(grep -oE 'cov: [0-9]+ ft: [0-9]+ corp: [0-9]+.*exec/s: [0-9]+' "$build/$1.log" | tail -n 1)," \
    "of $(sed -nE 's/.*Loaded .* modules? +\(([0-9]+) inline 8-bit counters.*/\1/p' "$build/$1.log" | head -n 1) edges"
  [ "$status" -eq 0 ] || {
    echo "FAILED: $1, with status $status"
    grep -E -A 12 'ERROR:|Fatal error|runtime error' "$build/$1.log" | head -n 30
  }
  return "$status"
}
export -f fuzz

rm -f "$build"/*.failed
for parser in "$@"; do
  case $parser in
    native | irc | twitch) echo "$parser $runs 1024" ;;
    lines | varlink | interface | twitchevents | obs) echo "$parser $runs 2048" ;;
    *) echo "$parser $runs_of_files 16384" ;;
  esac
done | xargs -P "$(nproc)" -L 1 bash -c 'fuzz "$@" || touch "$build/$1.failed"' fuzz
failed=$(find "$build" -maxdepth 1 -name '*.failed' | wc -l)
echo "$(($# - failed)) passed, $failed failed"
[ "$failed" -eq 0 ]

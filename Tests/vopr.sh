#!/usr/bin/env bash
# Runs the daemon under simulation: `vopr.sh BIN [SEEDS]`, the first SEEDS seeds (default 400), half of them on each
# of two processors. Before that, the same seed must give the same trace, byte for byte, in two processes.
set -uo pipefail
program=${1:?usage: vopr.sh BIN [SEEDS]}/livehost-vopr
seeds=${2:-400}
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
passed=0 failed=0

check() { # what, whether it holds
  if [ "$2" = 0 ]; then passed=$((passed + 1)); else
    echo "FAILED: $1"
    failed=$((failed + 1))
  fi
}

for seed in 1 12 31; do
  # A thread that never waits, or a simulation that never ends, ends here.
  for run in first second; do
    timeout -s KILL 60 "$program" --seed "$seed" --trace >"$directory/$run" 2>&1
    check "seed $seed" $?
  done
  cmp "$directory/first" "$directory/second"
  check "seed $seed has the same trace in two processes" $?
done

half=$((seeds / 2))
limit=$((60 + seeds))
timeout -s KILL "$limit" "$program" --seed 1 --count "$half" >"$directory/first" 2>&1 &
timeout -s KILL "$limit" "$program" --seed $((half + 1)) --count $((seeds - half)) >"$directory/second" 2>&1
check "seeds from $((half + 1)) to $seeds" $?
wait $!
check "seeds from 1 to $half" $?
cat "$directory/first" "$directory/second" | tail -n 20
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

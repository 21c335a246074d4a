#!/usr/bin/env bash
# Runs the daemon under simulation: `vopr.sh BIN [SEEDS]`, the first SEEDS seeds (default 2,000), half of them on each
# of two processors. Prints how often everything happened that can; if something never did, that is a failure, as
# long as the seeds are enough for it. Before that, the same seed must give the same trace, byte for byte, in two
# processes, and a disk that does not sync must be found out.
set -uo pipefail
program=${1:?usage: vopr.sh BIN [SEEDS]}/livehost-vopr
seeds=${2:-2000}
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

for option in --drop-syncs --drop-directory-syncs; do
  for place in recordings log rooms; do
    timeout -s KILL 120 "$program" "$option" "/$place" --count 100 >"$directory/first" 2>&1
    status=$?
    line=$(grep -m 1 'broke a promise' "$directory/first" | cut -d : -f 1-2)
    [ "$status" = 1 ] && [ -n "$line" ]
    check "$option /$place is found out" $?
    echo "$option /$place: $line"
  done
done

half=$((seeds / 2))
limit=$((60 + seeds))
timeout -s KILL "$limit" "$program" --seed 1 --count "$half" >"$directory/first" 2>&1 &
timeout -s KILL "$limit" "$program" --seed $((half + 1)) --count $((seeds - half)) >"$directory/second" 2>&1
check "seeds from $((half + 1)) to $seeds" $?
wait $!
check "seeds from 1 to $half" $?
cat "$directory/first" "$directory/second" >"$directory/both"
grep -v '^counted ' "$directory/both" | tail -n 20
awk '$1 == "counted" { n = $2; $1 = $2 = ""; sum[$0] += n }
  END { for (name in sum) printf "%10d%s\n", sum[name], name }' "$directory/both" |
  sort -k 2 >"$directory/counts"
cat "$directory/counts"
if [ "$seeds" -ge 1000 ]; then
  while read -r count name; do
    [ "$count" -gt 0 ]
    check "it happens in $seeds seeds: $name" $?
  done <"$directory/counts"
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

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

# A few hundred at a time, since what a killed daemon was waiting for is freed by the end of the process only.
part=$((seeds < 1000 ? (seeds + 1) / 2 : 500))
run() { # seed, count
  timeout -s KILL $((60 + $2 * 2)) "$program" --seed "$1" --count "$2" >"$directory/part.$1" 2>&1 ||
    touch "$directory/failed.$1"
}
export program directory
export -f run
for ((seed = 1; seed <= seeds; seed += part)); do
  echo $seed $((seed + part > seeds + 1 ? seeds + 1 - seed : part))
done | xargs -P 2 -L 1 bash -c 'run "$@"' run
for ((seed = 1; seed <= seeds; seed += part)); do
  [ ! -e "$directory/failed.$seed" ]
  check "seeds from $seed" $?
done
cat "$directory"/part.* >"$directory/both"
grep -v '^counted ' "$directory/both" | grep -v ' days an hour$'
# Of all parts together.
awk '/ days an hour$/ { n += $1; days += $3; seconds += $7 }
  END { printf "%d seeds, %.2f simulated days in %.0f s of a processor: %.1f days an hour\n", n, days, seconds,
    days / seconds * 3600 }' "$directory/both"
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

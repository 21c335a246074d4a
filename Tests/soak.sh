#!/bin/bash
# Feeds a daemon heavy and hostile input for SOAK_SECONDS (600) and watches its memory:
# `soak.sh BIN`, where BIN is the directory of the programs. Prints the seed; SOAK_SEED repeats a run.
set -u
cd "$(dirname "$0")/.." || exit 1
. Tests/Interop/lib.sh
bin=${1:?usage: soak.sh BIN}
seconds=${SOAK_SECONDS:-600}
seed=${SOAK_SEED:-$(date +%s)}
echo "soak: $seconds s, seed $seed"
start_daemon "$bin"
ctl() { "$bin/livehostctl" --socket "$socket" "$@"; }
memory() { ctl status --json=short | python3 -c 'import json,sys; print(json.load(sys.stdin)["memoryBytes"] >> 20)'; }

cat >"$directory/hostile.py" <<'PYTHON'
"""Sends mutated lines of the recording, random bytes and broken JSON; some connections end mid-line."""
import gzip, random, socket, sys

path, seed = sys.argv[1], int(sys.argv[2])
random.seed(seed)
lines = gzip.open("config/recordings/chat-burst.irc.gz", "rb").read().split(b"\r\n")
for _ in range(20):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    block = bytearray()
    for _ in range(500):
        line = bytearray(random.choice(lines))
        for _ in range(random.randrange(4)):
            if line:
                line[random.randrange(len(line))] = random.randrange(256)
        kind = random.randrange(10)
        if kind == 0:
            line = bytearray(random.randbytes(random.randrange(2000)))
        elif kind == 1:
            line = bytearray(b'{"type":"slider","control":"x","phase":"change","value":%d}' % random.randrange(3))
        elif kind == 2:
            line = bytearray(b"x" * random.randrange(200_000))
        block += line + b"\n"
    if random.randrange(3) == 0:
        block = block[: random.randrange(len(block))]
    try:
        connection.sendall(block)
    except BrokenPipeError:
        sys.exit("the daemon closed a connection")
    connection.close()
PYTHON

# The reasons of the hangs so far, one per line.
reasons() {
  ctl hangs --json=short |
    python3 -c 'import json,sys; [print(h["reason"]) for h in json.load(sys.stdin)["hangs"]]'
}

# Starves a lane of processors in the middle of a turn, and prints the reasons given for its long turns. The
# lane belongs to a separate daemon, in which a title takes a second.
starve() (
  export LIVEHOST_HOLD=action:header.titleChanged=1000
  start_daemon "$bin"
  hog='import time; end = time.monotonic() + 0.9
while time.monotonic() < end: pass'
  "$bin/livehostctl" --socket "$socket" open main
  "$bin/livehostctl" --socket "$socket" send main '{"type":"title","title":"starved"}' >/dev/null &
  waiting=$!
  sleep 0.1
  for core in $(seq 0 $(($(nproc) - 1))); do
    # It ends by itself: at this priority no other process on its processor could end it.
    taskset --cpu-list "$core" chrt --fifo 50 python3 -c "$hog" &
    waiting+=" $!"
  done
  # shellcheck disable=SC2086
  wait $waiting
  reasons
)

round=0
first=0
highest=0
end=$((SECONDS + seconds))
while [ $SECONDS -lt $end ]; do
  round=$((round + 1))
  ctl ingest config/recordings/chat-burst.irc.gz --speed max --room "soak-$((round % 8))" >/dev/null 2>&1 ||
    { echo "FAILED: ingest in round $round"; failed=$((failed + 1)); break; }
  python3 "$directory/hostile.py" "$directory/run/ingest" $((seed + round)) ||
    { failed=$((failed + 1)); break; }
  now=$(memory) || { echo "FAILED: status in round $round"; failed=$((failed + 1)); break; }
  # The first rounds fill histories and tables.
  if [ $round -eq 5 ]; then first=$now; fi
  if [ "$now" -gt "$highest" ]; then highest=$now; fi
  if [ $((round % 10)) -eq 0 ]; then echo "round $round: $now MiB"; fi
done
check "some rounds were run" test $round -gt 5
# A turn without a processor is caused by the machine; any other long turn under load is a false alarm.
check "no hang was reported that the machine did not cause" test -z "$(reasons | grep -v descheduled)"
if chrt --fifo 50 true 2>/dev/null; then
  check "a lane that was held without a processor is called descheduled" \
    test "$(starve)" = descheduled
else
  echo "skipped: real-time priority is not permitted, so no lane can be starved"
  skipped=$((skipped + 1))
fi
check "memory stays flat after the first rounds: $first MiB, then at most $highest MiB" \
  test "$highest" -le $((first + 32))
check "every event is accounted for" python3 - "$(ctl status --json=short)" <<'PYTHON'
import json, sys
totals = json.loads(sys.argv[1])["totals"]
parts = sum(totals[name] for name in ("applied", "coalesced", "rejected", "pending"))
sys.exit(0 if totals["received"] == parts else f"{totals}")
PYTHON
check "the daemon ends with 0 when it is asked to" \
  bash -c 'kill -TERM "$0"; tail --pid="$0" -f /dev/null' "$daemon"
wait "$daemon"
check "its exit status is 0" test $? -eq 0
finish

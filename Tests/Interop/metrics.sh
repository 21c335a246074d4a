#!/bin/bash
# Checks `livehostctl metrics` with Prometheus' own tool: `metrics.sh BIN`, where BIN is the directory of the
# programs. Uses promtool from the PATH, or extracts it once from Debian's package, which is not installed
# because that would start a server. Skipped if neither is available.
set -u
here=$(dirname "$(readlink -f "$0")")
. "$here/lib.sh"
bin=${1:?usage: metrics.sh BIN}
cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/livehost

# find_promtool: prints its path; false if it is not available.
find_promtool() {
  command -v promtool && return
  if [ ! -x "$cache/promtool" ]; then
    local work
    work=$(mktemp -d) && mkdir -p "$cache" || return
    # Under another name until it is complete.
    (cd "$work" && timeout 300 apt-get download -qq prometheus &&
      dpkg-deb --fsys-tarfile prometheus_*.deb | tar -xO ./usr/bin/promtool >"$cache/promtool.new" &&
      chmod 755 "$cache/promtool.new" && mv "$cache/promtool.new" "$cache/promtool") >/dev/null 2>&1
    rm -rf "$work"
  fi
  [ -x "$cache/promtool" ] && echo "$cache/promtool"
}

# accepted: promtool finds neither errors nor questionable style.
accepted() {
  local found
  found=$("$promtool" check metrics <"$directory/metrics" 2>&1) && [ -z "$found" ] && return
  echo "$found"
  return 1
}

# value SERIES: prints its value.
value() { grep -v '^#' "$directory/metrics" | grep -F -- "$1 " | sed 's/.* //'; }

is() { # expected, series
  local found
  found=$(value "$2")
  [ "$found" = "$1" ] || { echo "$2 is '$found', expected $1"; return 1; }
}

LIVEHOST_HOLD=action:header.titleChanged=300 start_daemon "$bin"
ctl() { "$bin/livehostctl" --socket "$socket" "$@"; }
ctl ingest "$here/../../config/recordings/chat-burst.irc.gz" --speed max --room main >/dev/null 2>&1
ctl send main '{"type":"title","title":"a \"quoted\" one"}' >/dev/null
ctl send side '{"type":"viewers","count":42}' >/dev/null
printf '{broken\n{"type":"nothing"}\n' | ctl ingest - --speed max >/dev/null 2>&1
until [ "$(ctl hangs --json=short)" != '{"hangs":[]}' ]; do sleep 0.05; done
ctl metrics >"$directory/metrics"

if promtool=$(find_promtool); then
  check "promtool finds nothing in the metrics" accepted
else
  skip 1 "promtool is neither installed nor available from Debian's package prometheus"
fi
check "events of the daemon" is 5004 livehost_events_received_total
check "events of a room by outcome" is 5001 'livehost_room_events_total{outcome="applied",room="main"}'
check "rejections by reason" is 1 'livehost_events_rejected_total{reason="malformedJSON"}'
check "viewers of a room" is 42 'livehost_room_viewers{room="side"}'
check "rooms" is 2 livehost_rooms
check "the evaluations of a view" contains livehost_view_evaluations_total \
  grep -F 'livehost_view_evaluations_total{room="main",view="ChatView"}' "$directory/metrics"
check "actions by feature" contains livehost_room_actions_total \
  grep -F 'livehost_room_actions_total{feature="chat",room="main"}' "$directory/metrics"
# The machine may have descheduled the lane meanwhile; then the reason or class is another one.
check "hangs by class and reason" test "$(grep '^livehost_hangs_total' "$directory/metrics" |
  awk '{ sum += $2 } END { print sum }')" -ge 1
check "every turn is in the histogram" test "$(value 'livehost_turn_duration_seconds_count{lane="0"}')" -gt 3
check "a turn of 300 ms is above the bound of 0.25 s" test \
  "$(value 'livehost_turn_duration_seconds_bucket{lane="0",le="0.25"}')" -lt \
  "$(value 'livehost_turn_duration_seconds_bucket{lane="0",le="+Inf"}')"
check "the process's own metrics" contains process_resident_memory_bytes cat "$directory/metrics"
finish

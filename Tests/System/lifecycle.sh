# shellcheck shell=bash
# Checks for package.sh of what reloads, kills, stalls and stops do to rooms, recordings and connections.
# Each prints why it failed and returns non-zero.

DROP_IN=/run/systemd/system/livehostd.service.d/test.conf

control() { inside timeout 60 livehostctl "$@"; }

# Prints a value of the JSON object on standard input.
value() { # path, such as features.chat.total
  python3 -c 'import functools, json, sys
print(functools.reduce(lambda value, key: value[key], sys.argv[1].split("."), json.load(sys.stdin)))' "$1"
}

# Waits up to about 20 s until a command succeeds.
wait_for() {
  local _
  for _ in $(seq 200); do
    "$@" >/dev/null 2>&1 && return
    sleep 0.1
  done
  echo "still failing after 20 s: $*"
  return 1
}

milliseconds_of_start() {
  local started active
  started=$(property ExecMainStartTimestampMonotonic livehostd.service)
  active=$(property ActiveEnterTimestampMonotonic livehostd.service)
  echo $(((active - started) / 1000))
}

# The unit is by default the daemon's.
is_active() { [ "$(property ActiveState "${1:-livehostd.service}")" = active ]; }
has_other_process() { # former process, unit
  is_active "${2:-livehostd.service}" && [ "$(property MainPID "${2:-livehostd.service}")" != "$1" ]
}
room_has() { # room, minimum number of messages
  [ "$(control show "$1" chat --json=short | value features.chat.total)" -ge "$2" ]
}

# Restarts the service with other settings, or with its own if none are given.
with_settings() {
  if [ $# -gt 0 ]; then
    inside mkdir -p "$(dirname "$DROP_IN")"
    printf '%s\n' '[Service]' "$@" | inside sh -c "cat >$DROP_IN"
  else
    inside rm -f "$DROP_IN"
  fi
  inside systemctl daemon-reload && inside systemctl restart livehostd.service && wait_for is_active
}

# A reload with a monitor and a producer connected: both stay connected, and an invalid file changes nothing.
check_reload() {
  local directory=/etc/livehost/livehostd.yaml.d status=0 watcher process
  control send main '{"type":"viewers","count":1}' || return
  inside mkdir -p "$directory"
  process=$(property MainPID livehostd.service)
  inside timeout 60 livehostctl watch main header --json=short >"$WORK/watched" &
  watcher=$!
  wait_for test -s "$WORK/watched" || status=1
  inside sh -c "printf 'log:\n  level: warning\n' >$directory/test.yaml"
  inside systemctl reload livehostd.service || { echo "the reload failed"; status=1; }
  [ "$(control log-level --json=short | value logLevel)" = warning ] || { echo "not in effect"; status=1; }
  inside sh -c "printf 'log:\n  level: loud\n' >$directory/test.yaml"
  if inside systemctl reload livehostd.service; then echo "an invalid file was accepted"; status=1; fi
  [ "$(control log-level --json=short | value logLevel)" = warning ] || { echo "an invalid file had an effect"; status=1; }
  inside rm "$directory/test.yaml"
  inside systemctl reload livehostd.service || status=1
  [ "$(control log-level --json=short | value logLevel)" = info ] || status=1
  is_active || status=1
  control send main '{"type":"viewers","count":4711}' || status=1
  wait_for grep -q 4711 "$WORK/watched" || { echo "the monitor was dropped"; status=1; }
  [ "$(property MainPID livehostd.service)" = "$process" ] || { echo "it was restarted"; status=1; }
  kill "$watcher" 2>/dev/null
  wait "$watcher" 2>/dev/null
  return "$status"
}

# Opens a new room main and feeds it in the background; returns under load. Sets FEEDER.
feed_main() { # "record" to record it, which sets RECORDING
  control close main
  control open main || return
  if [ "${1:-}" = record ]; then
    RECORDING=$(control record start main --json=short | value recording) || return
  fi
  timeout 60 "$here/feed.py" "/proc/$INIT/root/run/livehost/ingest" >"$WORK/acknowledged" &
  FEEDER=$!
  wait_for room_has main 20000
}

# Kills the service and waits until it is back.
kill_service() {
  local process
  process=$(property MainPID livehostd.service)
  inside systemctl kill --signal=KILL livehostd.service
  wait "$FEEDER"
  wait_for has_other_process "$process"
}

acknowledged() { tail -n 1 "$WORK/acknowledged"; }

# Killed under load while recording: systemd restarts it, with everything acknowledged, still recording.
check_kill() {
  local acknowledged total recorded
  feed_main record && kill_service || return
  acknowledged=$(acknowledged)
  total=$(control show main chat --json=short | value features.chat.total)
  recorded=$(control record list main --json=short |
    python3 -c 'import json, sys; print(json.load(sys.stdin)[-1]["events"])')
  echo "$acknowledged acknowledged, $total in the room, $recorded in $RECORDING"
  [ "$acknowledged" -gt 0 ] && [ "$total" -ge "$acknowledged" ] && [ "$recorded" = "$total" ] || return
  control record list main --json=short | grep -q '"state":"recording"' ||
    { echo "recording does not continue"; return 1; }
}

# The same without a recording: everything acknowledged is in the saved state.
check_kill_unrecorded() {
  local acknowledged total
  feed_main && kill_service || return
  acknowledged=$(acknowledged)
  total=$(control show main chat --json=short | value features.chat.total)
  echo "$acknowledged acknowledged, $total in the room"
  [ "$acknowledged" -gt 0 ] && [ "$total" -ge "$acknowledged" ]
}

check_restart() {
  local before after
  control send main '{"type":"title","title":"Evening show"}' || return
  control send main '{"type":"reaction","kind":"heart","count":5}' || return
  before=$(control show main --json=short | value features) || return
  inside systemctl restart livehostd.service || return
  after=$(control show main --json=short | value features) || return
  echo "it was ready after $(milliseconds_of_start) ms"
  [ "$before" = "$after" ] || { echo "before: $before"; echo "after: $after"; return 1; }
}

# A stop under load while recording: in time, without a kill, and nothing accepted is lost.
check_stop_recording() {
  local result acknowledged
  feed_main record || return
  inside systemctl stop livehostd.service || return
  wait "$FEEDER"
  result="$(property ActiveState livehostd.service)/$(property Result livehostd.service)"
  [ "$result" = inactive/success ] || { echo "it is $result"; return 1; }
  inside systemctl start livehostd.service || return
  acknowledged=$(acknowledged)
  control record stop main >/dev/null || return
  control record export "$RECORDING" >"$WORK/exported" || return
  echo "$acknowledged acknowledged, $(wc -l <"$WORK/exported") in $RECORDING"
  [ "$acknowledged" -gt 0 ] && [ "$(wc -l <"$WORK/exported")" -ge "$acknowledged" ]
}

# Each socket starts the service, even after it was stopped.
check_activation() {
  inside systemctl stop livehostd.service || return
  control status >/dev/null || { echo "the control socket does not start it"; return 1; }
  is_active || return
  inside systemctl stop livehostd.service || return
  echo '{"type":"viewers","count":2}' |
    python3 -c 'import socket, sys
connection = socket.socket(socket.AF_UNIX)
connection.connect(sys.argv[1])
connection.sendall(sys.stdin.buffer.read() + b"{\"type\":\"sync\",\"token\":\"1\"}\n")
print(connection.makefile().readline().strip())' "/proc/$INIT/root/run/livehost/ingest" |
    grep '"received":1' || { echo "the ingest socket does not start it"; return 1; }
  is_active
}

# Only the watchdog notices a blocked lane; the rooms come back.
check_watchdog() {
  local process status=0
  with_settings WatchdogSec=2s Environment=LIVEHOST_BLOCK_LANE_MS=600000 || return
  control send main '{"type":"title","title":"Before the stall"}' || return
  process=$(property MainPID livehostd.service)
  inside systemctl kill --signal=USR2 livehostd.service
  wait_for has_other_process "$process" || status=1
  inside journalctl --sync
  inside journalctl -q --no-pager -u livehostd.service "_PID=$process" | grep -F 'made no progress' || status=1
  inside journalctl -q --no-pager -u livehostd.service | grep -F 'Watchdog timeout' || status=1
  control show main header --json=short | grep -F 'Before the stall' >/dev/null || status=1
  with_settings || status=1
  return "$status"
}

# Provokes an entry of every kind that earlier checks have not provoked.
provoke_entries() {
  with_settings "Environment=LIVEHOST_HOLD=action:header.titleChanged=600,action:header.viewersChanged=300" || return
  control open journal
  control send journal '{"type":"title","title":"a hang"}'
  control send journal '{"type":"viewers","count":8}'
  control set journal volume 0.5
  echo 'no event' | control ingest - --room journal
  local recording
  recording=$(control record start journal --json=short | value recording)
  control send journal '{"type":"chat.message","id":"1","user":{"id":"7","name":"Ada"},"text":"hello"}'
  control record pause journal
  control record stop journal
  control analyze chatters "$recording"
  inside sed -i '2s/"at"/"At"/' "/var/lib/private/livehost/recordings/$recording/000001.ndjson"
  control record verify "$recording"
  control record delete "$recording"
  inside sh -c 'chmod 500 /var/lib/private/livehost/recordings'
  control record start journal
  inside sh -c 'chmod 700 /var/lib/private/livehost/recordings'
  control close journal
  # A longer call than people without rights may send.
  inside setpriv --reuid=nobody --regid=nogroup --clear-groups livehostctl why journal "$(printf '%020000d' 0)"
  # Refusals are logged as sums; what is left of them at the latest when the service stops.
  with_settings
}

# Every kind of entry is in the journal with its fields and its explanation. Lost entries cannot be provoked
# here; Tests/journal.py blocks a journal for them.
check_entries() {
  local kind id kinds failed=0 text entry
  kinds=$(control journal --kinds --json=short | python3 -c 'import json, sys
for kind in json.load(sys.stdin)["kinds"]: print(kind["kind"], kind["messageID"])')
  [ "$(wc -l <<<"$kinds")" -ge 15 ] || { echo "livehostctl lists only these kinds: $kinds"; return 1; }
  provoke_entries >/dev/null 2>&1
  inside journalctl --sync
  while read -r kind id; do
    text=$(inside journalctl -q -x --no-pager -u livehostd.service "MESSAGE_ID=$id" | grep -m 1 '^░░ Subject:')
    entry=$(inside journalctl -q -n 1 -o json -u livehostd.service "MESSAGE_ID=$id")
    case $kind in
      entries-lost)
        inside journalctl --list-catalog "$id" | grep -q "$id" && continue ;;
      service-started | service-stopped | reload | configuration-error)
        [ -n "$text" ] && continue ;;
      *)
        [ -n "$text" ] && grep -q '"LIVEHOST_' <<<"$entry" && continue ;;
    esac
    echo "$kind ($id): explained by '${text:-nothing}', entry ${entry:-none}"
    failed=1
  done <<<"$kinds"
  return "$failed"
}

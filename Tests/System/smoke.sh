#!/bin/bash
# Smoke test of the service on a really booted systemd: Debian 12 in systemd-nspawn.
#
#   smoke.sh [DIRECTORY]      the directory with the built livehostd and livehostctl;
#                             default $LIVEHOST_BIN_DIR, else .build/release
#
# See lib.sh for the variables and what it prints.
set -u -o pipefail

NAME=livehost-smoke
here=$(cd "$(dirname "$0")" && pwd)
BINARIES=${1:-${LIVEHOST_BIN_DIR:-$here/../../.build/release}}

CHECKS=(
  "check_start            the service starts on its sockets and reports READY"
  "check_status_text      a status text is set"
  "check_unprivileged     it runs as a dynamic user without capabilities"
  "check_sockets          the socket units own both sockets with their modes and group"
  "check_event            an event is accepted by livehostctl send"
  "check_journal          the room's opening is in the journal with MESSAGE_ID and LIVEHOST_ROOM"
  "check_catalog          journalctl -x explains that entry"
  "check_exposure         systemd-analyze security is at most 0.6"
  "check_priority         simulations would run at a lower priority under the unit's system-call filter"
  "check_stop             it stops cleanly: inactive, result success"
  "check_log              no entry of the service is a warning or worse"
  "check_hostile          a hostile sender: no hang, within the unit's memory limit, also after a kill"
)

. "$here/lib.sh"

install_service() {
  install -m 755 "$BINARIES/livehostd" "$BINARIES/livehostctl" "$ROOT/usr/bin/" || return
  install -d "$ROOT/usr/lib/systemd/system" "$ROOT/usr/lib/sysusers.d" \
    "$ROOT/usr/lib/systemd/catalog" "$ROOT/usr/lib/livehost-test" || return
  install -m 644 "$REPOSITORY"/packaging/systemd/*.service "$REPOSITORY"/packaging/systemd/*.socket \
    "$ROOT/usr/lib/systemd/system/" || return
  install -m 644 "$REPOSITORY/packaging/systemd/livehost.conf" "$ROOT/usr/lib/sysusers.d/" || return
  install -m 644 "$REPOSITORY/packaging/catalog/livehost.catalog" \
    "$ROOT/usr/lib/systemd/catalog/" || return
  install_libraries
}

# Installs the libraries that the root lacks, including a dynamically linked Swift runtime.
install_libraries() {
  local known soname path
  known=$(chroot "$ROOT" /sbin/ldconfig -p) || return
  while read -r soname path; do
    grep -qF "	$soname (" <<<"$known" && continue
    install -m 644 "$path" "$ROOT/usr/lib/livehost-test/$soname" || return
  done < <(ldd "$BINARIES/livehostd" "$BINARIES/livehostctl" | awk '$2 == "=>" && $3 ~ /^\// {print $1, $3}' | sort -u)
  echo /usr/lib/livehost-test >"$ROOT/etc/ld.so.conf.d/livehost-test.conf"
  chroot "$ROOT" /sbin/ldconfig
}

# Each check prints why it failed and returns non-zero.

check_start() {
  inside systemd-sysusers livehost.conf \
    && inside systemctl start livehostd.socket livehostd-ingest.socket livehostd.service \
    || { inside systemctl status -l --no-pager livehostd.service; return 1; }
  local state
  state="$(property ActiveState livehostd.service)/$(property SubState livehostd.service)"
  [ "$state" = active/running ] || { echo "state is $state"; return 1; }
}

check_sockets() {
  local found
  found=$(inside stat -c '%n %a %G' /run/livehost/io.livehost.Control /run/livehost/ingest) || return
  [ "$found" = "/run/livehost/io.livehost.Control 666 root
/run/livehost/ingest 660 livehost" ] || { echo "$found"; return 1; }
}

check_event() {
  inside timeout 20 livehostctl send main \
    '{"type":"chat.message","id":"1","user":{"id":"7","name":"Ada"},"text":"hello"}'
}

check_journal() {
  local entries
  inside journalctl --sync
  entries=$(inside journalctl -q -o json -u livehostd.service "MESSAGE_ID=$(room_opened)") || return
  grep -qF '"LIVEHOST_ROOM":"main"' <<<"$entries" && return
  echo "entries: $entries"
  inside journalctl -q --no-pager -u livehostd.service
  return 1
}

check_catalog() {
  inside journalctl --update-catalog || return
  inside journalctl -q -x --no-pager -u livehostd.service "MESSAGE_ID=$(room_opened)" \
    | grep -F 'Room main was opened'
}

# The threads for heavy work exist from the start, at the priority that they will work at.
check_priority() {
  local process found
  process=$(property MainPID livehostd.service)
  # Field 19 of stat, in proc(5).
  found=$(inside sh -c "for task in /proc/$process/task/*; do
    case \$(cat \$task/comm) in work-*) sed 's/.*) //' \$task/stat | cut -d' ' -f17 ;; esac; done" | sort -u)
  [ "$found" = 10 ] || { echo "their niceness is '$found', expected 10"; return 1; }
}

# The most that a process ever had, in bytes; a container may not count the memory of its units.
peak_memory() {
  inside awk '/^VmHWM:/ { print $2 * 1024 }' "/proc/$1/status"
}

# What a turn computed: on a machine that does other things, too, a lane may be without a processor, or wait
# for a page or for a thread that has none.
check_no_busy_turn() {
  local hangs
  hangs=$(inside livehostctl hangs --json=short | python3 -c 'import json, sys
print(sum(hang.get("processorMicroseconds", 10**9) >= 250_000 for hang in json.load(sys.stdin)["hangs"]))')
  [ "$hangs" = 0 ] || { inside livehostctl hangs; return 1; }
}

check_hostile() {
  local memory limit process status
  inside systemctl start livehostd.service || return
  process=$(property MainPID livehostd.service)
  timeout 400 "$here/hostile.py" "/proc/$INIT/root/run/livehost/ingest" || { echo "not acknowledged"; return 1; }
  status=$(inside timeout 20 livehostctl status --json=short) || return
  echo "$status"
  limit=$(property MemoryHigh livehostd.service)
  memory=$(peak_memory "$process")
  echo "memory $memory of $limit"
  [ "$memory" -lt "$limit" ] || return
  check_no_busy_turn || return
  [ "$(property MainPID livehostd.service)" = "$process" ] || { echo "it was restarted"; return 1; }
  inside systemctl kill --signal=KILL livehostd.service
  for _ in $(seq 300); do
    [ "$(property MainPID livehostd.service)" != "$process" ] &&
      [ "$(property ActiveState livehostd.service)" = active ] && break
    sleep 0.2
  done
  memory=$(peak_memory "$(property MainPID livehostd.service)")
  echo "memory $memory of $limit after the kill"
  [ "$(property ActiveState livehostd.service)" = active ] && [ "$memory" -lt "$limit" ] || return
  [ "$(inside livehostctl rooms --json=short | python3 -c 'import json, sys
print(len(json.load(sys.stdin)))')" -ge 48 ] || { echo "rooms are missing"; return 1; }
  check_no_busy_turn
}

check_stop() {
  # Only the service: its sockets stay open, as after any stop by an administrator.
  inside systemctl stop livehostd.service || return
  local state
  state="$(property ActiveState livehostd.service)/$(property Result livehostd.service)"
  [ "$state" = inactive/success ] || { echo "state is $state"; return 1; }
}

begin "$BINARIES"
make_root
mount_root
install_service || fail_setup "cannot install the service"
boot
run_checks

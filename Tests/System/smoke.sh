#!/bin/bash
# Smoke test of the service on a really booted systemd: Debian 12 in systemd-nspawn.
#
#   smoke.sh [DIRECTORY]      the directory with the built livehostd and livehostctl;
#                             default $LIVEHOST_BIN_DIR, else .build/release
#
# LIVEHOST_ROOT_CACHE       the Debian root, made by debootstrap once and reused;
#                           default ${XDG_CACHE_HOME:-~/.cache}/livehost/bookworm
# LIVEHOST_DEBIAN_MIRROR    where debootstrap gets packages from
#
# Prints "ok - ..." or "not ok - ..." per check, then "N passed, N failed". Says SKIPPED and
# exits 0 where such a test cannot run. Each run mounts an overlay on the root, in a mount
# namespace of its own, so that neither mount nor process is left behind even if it is killed.
set -u -o pipefail

REPOSITORY=$(cd "$(dirname "$0")/../.." && pwd)
BINARIES=${1:-${LIVEHOST_BIN_DIR:-$REPOSITORY/.build/release}}
CACHE=${LIVEHOST_ROOT_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/livehost/bookworm}
MIRROR=${LIVEHOST_DEBIAN_MIRROR:-http://deb.debian.org/debian}
# Exposure that `systemd-analyze security` may report at most.
MAXIMUM_EXPOSURE=0.6

# One line each: the function that checks, and what it checks.
CHECKS=(
  "check_start            the service starts on its sockets and reports READY"
  "check_status           a status text is set"
  "check_unprivileged     it runs as a dynamic user without capabilities"
  "check_sockets          the socket units own both sockets with their modes and group"
  "check_event            an event is accepted by livehostctl send"
  "check_journal          the room's opening is in the journal with MESSAGE_ID and LIVEHOST_ROOM"
  "check_catalog          journalctl -x explains that entry"
  "check_exposure         systemd-analyze security is at most $MAXIMUM_EXPOSURE"
  "check_stop             it stops cleanly: inactive, result success"
  "check_log              no entry of the service is a warning or worse"
)

skip() {
  echo "SKIPPED: $1"
  echo "0 passed, 0 failed, ${#CHECKS[@]} skipped"
  exit 0
}

fail_setup() {
  echo "not ok - set up: $1"
  echo "0 passed, 1 failed"
  exit 1
}

[ "$(id -u)" = 0 ] || skip "not root"
for tool in systemd-nspawn nsenter unshare setpriv mount flock ldd; do
  command -v "$tool" >/dev/null || skip "$tool is not installed"
done
for binary in livehostd livehostctl; do
  [ -x "$BINARIES/$binary" ] || fail_setup "$BINARIES/$binary is missing; build it first"
done

if [ "${LIVEHOST_SMOKE_NAMESPACE:-}" != "$$" ]; then
  # The namespace keeps the process, so its number tells the second pass from the first.
  unshare --mount --propagation private true 2>/dev/null || skip "mount namespaces are not permitted"
  LIVEHOST_SMOKE_NAMESPACE=$$ exec unshare --mount --propagation private "$BASH" "$0" "$BINARIES"
fi

WORK=
NSPAWN=
INIT=

clean_up() {
  local status=$?
  trap - EXIT INT TERM HUP
  stop_container
  if [ -n "$WORK" ]; then
    umount -R "$WORK" 2>/dev/null || umount -l "$WORK" 2>/dev/null
    rmdir "$WORK" 2>/dev/null
  fi
  exit "$status"
}

stop_container() {
  [ -n "$NSPAWN" ] || return 0
  # SIGRTMIN+4 asks the container's systemd to power off.
  [ -n "$INIT" ] && kill -s RTMIN+4 "$INIT" 2>/dev/null
  for _ in $(seq 100); do
    kill -0 "$NSPAWN" 2>/dev/null || break
    sleep 0.1
  done
  [ -n "$INIT" ] && kill -s KILL "$INIT" 2>/dev/null
  kill -s KILL "$NSPAWN" 2>/dev/null
  wait "$NSPAWN" 2>/dev/null
  NSPAWN=
}

trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Makes the root once. It is built beside its place and renamed, so that a root there is whole.
make_root() {
  mkdir -p "$(dirname "$CACHE")" || skip "cannot create $(dirname "$CACHE")"
  exec 9>"$CACHE.lock"
  flock 9
  if [ ! -x "$CACHE/usr/lib/systemd/systemd" ] && [ ! -x "$CACHE/lib/systemd/systemd" ]; then
    command -v debootstrap >/dev/null || skip "debootstrap is not installed"
    local new="$CACHE.new"
    rm -rf "$new"
    echo "# making a Debian root in $CACHE (once)"
    if ! debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus bookworm "$new" \
      "$MIRROR" >"$CACHE.log" 2>&1; then
      tail -n 5 "$CACHE.log" | sed 's/^/# /'
      rm -rf "$new"
      skip "debootstrap failed (log: $CACHE.log)"
    fi
    rm -rf "$CACHE"
    mv "$new" "$CACHE"
  fi
  exec 9>&-
}

mount_root() {
  WORK=$(mktemp -d "${TMPDIR:-/tmp}/livehost-smoke.XXXXXX") || fail_setup "no temporary directory"
  # A tmpfs: an overlay's upper layer cannot lie on another overlay, as in a container image.
  mount -t tmpfs -o size=1g,mode=0755 livehost-smoke "$WORK" 2>/dev/null || skip "cannot mount a tmpfs"
  ROOT=$WORK/root
  mkdir "$WORK/upper" "$WORK/work" "$ROOT"
  mount -t overlay livehost-smoke "$ROOT" \
    -o "lowerdir=$CACHE,upperdir=$WORK/upper,workdir=$WORK/work" 2>/dev/null \
    || skip "cannot mount an overlay"
}

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

# The libraries that the root lacks, the Swift runtime among them if it is linked dynamically.
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

inside() {
  nsenter -t "$INIT" -a -- /usr/bin/env -i PATH=/usr/bin:/usr/sbin:/bin:/sbin HOME=/root LANG=C.UTF-8 \
    SYSTEMD_COLORS=0 "$@"
}

boot() {
  # Dies with this shell, also if that is killed.
  setpriv --pdeathsig KILL systemd-nspawn -q -D "$ROOT" --machine="livehost-smoke-$$" --boot --register=no --keep-unit \
    --private-network --console=pipe --link-journal=no \
    </dev/null >"$WORK/console" 2>&1 &
  NSPAWN=$!
  local child state
  for _ in $(seq 300); do
    kill -0 "$NSPAWN" 2>/dev/null || return 1
    # nspawn has other children while it sets up; the lasting one is the container's init.
    for child in $(cat "/proc/$NSPAWN/task/$NSPAWN/children" 2>/dev/null); do
      [ "$(cat "/proc/$child/comm" 2>/dev/null)" = systemd ] && INIT=$child
    done
    if [ -n "$INIT" ]; then
      state=$(inside systemctl is-system-running 2>/dev/null)
      case $state in running | degraded) return 0 ;; esac
    fi
    sleep 0.1
  done
  return 1
}

property() {
  inside systemctl show --value -p "$1" "$2"
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

check_status() {
  local text
  text=$(property StatusText livehostd.service)
  echo "status: $text"
  [ -n "$text" ]
}

check_unprivileged() {
  local process user
  process=$(property MainPID livehostd.service)
  user=$(inside stat -c %u "/proc/$process") || return
  # 61184 to 65519 are systemd's dynamic users.
  [ "$user" -ge 61184 ] && [ "$user" -le 65519 ] || { echo "user is $user"; return 1; }
  inside grep -qx 'CapEff:	0000000000000000' "/proc/$process/status"
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

room_opened() {
  sed -n 's/.*case roomOpened = "\([0-9a-f]*\)".*/\1/p' \
    "$REPOSITORY/Sources/System/Systemd/JournalMessageID.swift"
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

check_exposure() {
  local line value
  line=$(inside systemd-analyze security --no-pager livehostd.service | tail -n 1)
  echo "$line"
  value=$(grep -oE '[0-9]+\.[0-9]+' <<<"$line" | head -n 1)
  [ -n "$value" ] && awk -v value="$value" -v maximum="$MAXIMUM_EXPOSURE" \
    'BEGIN { exit !(value <= maximum) }'
}

check_stop() {
  # The service only: its sockets stay, as after any stop by an administrator.
  inside systemctl stop livehostd.service || return
  local state
  state="$(property ActiveState livehostd.service)/$(property Result livehostd.service)"
  [ "$state" = inactive/success ] || { echo "state is $state"; return 1; }
}

check_log() {
  local found
  inside journalctl --sync
  found=$(inside journalctl -q --no-pager -p warning -u livehostd.service \
    -u livehostd.socket -u livehostd-ingest.socket)
  [ -z "$found" ] || { echo "$found"; return 1; }
}

make_root
mount_root
install_service || fail_setup "cannot install the service"
if ! boot; then
  tail -n 10 "$WORK/console" | sed 's/^/# /'
  # Where containers are refused nspawn says so at once; a root that hangs is a failure.
  kill -0 "$NSPAWN" 2>/dev/null && fail_setup "the container did not boot in time"
  skip "systemd-nspawn cannot boot a container here"
fi

passed=0
failed=0
for check in "${CHECKS[@]}"; do
  read -r function text <<<"$check"
  if output=$("$function" 2>&1); then
    passed=$((passed + 1))
    echo "ok - $text"
  else
    failed=$((failed + 1))
    echo "not ok - $text"
  fi
  [ -z "$output" ] || sed 's/^/# /' <<<"$output"
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]

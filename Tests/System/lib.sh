# shellcheck shell=bash
# Shared by the tests on a really booted systemd: a Debian 12 root in systemd-nspawn. To be sourced by a
# script that has set NAME, BINARIES, and CHECKS: one line per check, with its function and a description.
#
# LIVEHOST_ROOT_CACHE       the Debian root; default ${XDG_CACHE_HOME:-~/.cache}/livehost/bookworm
# LIVEHOST_DEBIAN_MIRROR    see debian-root.sh
#
# Prints "ok - ..." or "not ok - ..." per check, then "N passed, N failed". Prints SKIPPED and exits 0
# where such a test cannot run. Each run mounts an overlay on the root in its own mount namespace, so
# neither mounts nor processes are left behind even if it is killed.

REPOSITORY=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
CACHE=${LIVEHOST_ROOT_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/livehost/bookworm}
. "$REPOSITORY/Tests/System/debian-root.sh"
# The highest exposure that `systemd-analyze security` may report.
MAXIMUM_EXPOSURE=0.6

WORK=
NSPAWN=
INIT=

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

# Restarts the script in its own mount namespace, after checking for what it needs there.
begin() { # the script's arguments
  [ "$(id -u)" = 0 ] || skip "not root"
  local tool binary
  for tool in systemd-nspawn nsenter unshare setpriv mount flock ldd; do
    command -v "$tool" >/dev/null || skip "$tool is not installed"
  done
  for binary in livehostd livehostctl; do
    [ -x "$BINARIES/$binary" ] || fail_setup "$BINARIES/$binary is missing; build it first"
  done
  if [ "${LIVEHOST_TEST_NAMESPACE:-}" != "$$" ]; then
    # The namespace keeps the process, so its number tells the second pass from the first.
    unshare --mount --propagation private true 2>/dev/null || skip "mount namespaces are not permitted"
    LIVEHOST_TEST_NAMESPACE=$$ exec unshare --mount --propagation private "$BASH" "$0" "$@"
  fi
  trap clean_up EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
}

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

make_root() { # packages beyond systemd's
  local include=systemd,systemd-sysv,dbus package reason
  for package in "$@"; do include+=,$package; done
  reason=$(make_debian_root "$CACHE" bookworm lib/systemd/systemd "$include") || skip "$reason"
  [ -z "$reason" ] || echo "$reason"
}

mount_root() {
  WORK=$(mktemp -d "${TMPDIR:-/tmp}/$NAME.XXXXXX") || fail_setup "no temporary directory"
  # A tmpfs: an overlay's upper layer cannot lie on another overlay, as in a container image.
  mount -t tmpfs -o size=1g,mode=0755 "$NAME" "$WORK" 2>/dev/null || skip "cannot mount a tmpfs"
  ROOT=$WORK/root
  mkdir "$WORK/upper" "$WORK/work" "$ROOT"
  mount -t overlay "$NAME" "$ROOT" \
    -o "lowerdir=$CACHE,upperdir=$WORK/upper,workdir=$WORK/work" 2>/dev/null \
    || skip "cannot mount an overlay"
}

inside() {
  nsenter -t "$INIT" -a -- /usr/bin/env -i PATH=/usr/bin:/usr/sbin:/bin:/sbin HOME=/root LANG=C.UTF-8 \
    SYSTEMD_COLORS=0 "$@"
}

# Boots the root; skips where containers are not permitted, fails if it hangs.
boot() {
  wait_for_boot && return
  tail -n 10 "$WORK/console" | sed 's/^/# /'
  # Where containers are not permitted nspawn ends at once; a root that hangs is a failure.
  kill -0 "$NSPAWN" 2>/dev/null && fail_setup "the container did not boot in time"
  skip "systemd-nspawn cannot boot a container here"
}

wait_for_boot() {
  # Dies with this shell, also if that is killed.
  setpriv --pdeathsig KILL systemd-nspawn -q -D "$ROOT" --machine="$NAME-$$" --boot --register=no --keep-unit \
    --private-network --console=pipe --link-journal=no \
    </dev/null >"$WORK/console" 2>&1 &
  NSPAWN=$!
  local child state
  for _ in $(seq 300); do
    kill -0 "$NSPAWN" 2>/dev/null || return 1
    # nspawn has other children during its setup; the one that stays is the container's init.
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

# Checks shared by the scripts. Each prints why it failed and returns non-zero.

# The MESSAGE_ID of the entry for a room that was opened.
room_opened() {
  "$BINARIES/livehostctl" journal --kinds --json=short | python3 -c 'import json, sys
print(next(kind["messageID"] for kind in json.load(sys.stdin)["kinds"] if kind["kind"] == "room-opened"))'
}

check_status_text() {
  local text
  text=$(property StatusText livehostd.service)
  echo "status: $text"
  [ -n "$text" ]
}

check_unprivileged() { # unit, by default the daemon's
  local process user
  process=$(property MainPID "${1:-livehostd.service}")
  user=$(inside stat -c %u "/proc/$process") || return
  # 61184 to 65519 are systemd's dynamic users.
  [ "$user" -ge 61184 ] && [ "$user" -le 65519 ] || { echo "user is $user"; return 1; }
  inside grep -qx 'CapEff:	0000000000000000' "/proc/$process/status"
}

check_exposure() { # unit, by default the daemon's; what it may report at most
  local line value
  line=$(inside systemd-analyze security --no-pager "${1:-livehostd.service}" | tail -n 1)
  echo "$line"
  value=$(grep -oE '[0-9]+\.[0-9]+' <<<"$line" | head -n 1)
  [ -n "$value" ] && awk -v value="$value" -v maximum="${2:-$MAXIMUM_EXPOSURE}" \
    'BEGIN { exit !(value <= maximum) }'
}

check_log() {
  local found
  inside journalctl --sync
  found=$(inside journalctl -q --no-pager -p warning -u livehostd.service \
    -u livehostd.socket -u livehostd-ingest.socket)
  [ -z "$found" ] || { echo "$found"; return 1; }
}

# Runs CHECKS and prints the results; fails if one failed.
run_checks() {
  local passed=0 failed=0 check function text output
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
}

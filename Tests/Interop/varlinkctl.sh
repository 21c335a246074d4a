#!/bin/bash
# Uses a running livehostd through systemd's own client, varlinkctl, which Debian has since version 13 (trixie):
# `varlinkctl.sh BIN`, where BIN is the directory of the programs. The client runs in a Debian root that
# debootstrap makes once.
#
# LIVEHOST_TRIXIE_CACHE     that root; default ${XDG_CACHE_HOME:-~/.cache}/livehost/trixie
# LIVEHOST_DEBIAN_MIRROR    see Tests/System/debian-root.sh
set -u
cd "$(dirname "$0")/../.." || exit 1
. Tests/Interop/lib.sh
. Tests/System/debian-root.sh
bin=$(readlink -f "${1:?usage: varlinkctl.sh BIN}")
root=${LIVEHOST_TRIXIE_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/livehost/trixie}
checks=15

skip_all() {
  skip "$checks" "$1"
  finish
}

[ "$(id -u)" -eq 0 ] || skip_all "not root"
unshare --mount --propagation private true 2>/dev/null || skip_all "mount namespaces are not permitted"
reason=$(make_debian_root "$root" trixie usr/bin/varlinkctl systemd) || skip_all "$reason"
start_daemon "$bin"
cp Sources/Control/ControlInterface/io.livehost.Control.varlink "$directory/run/"
address=unix:/mnt/io.livehost.Control
interface=io.livehost.Control

# The sockets are at /mnt for varlinkctl, by a mount that only it sees.
varlinkctl() {
  unshare --mount --propagation private bash -c '
    mount --bind "$1" "$2/mnt" && mount --bind /dev "$2/dev" && shift && root=$1 && shift &&
    exec chroot "$root" /usr/bin/varlinkctl "$@"' - "$directory/run" "$root" "$@" </dev/null
}
call() { varlinkctl call "$@"; }
fails_with() { # error, command...
  local error=$1 output
  shift
  if output=$("$@" 2>&1); then
    echo "it did not fail: $output"
    return 1
  fi
  grep -qF -- "$error" <<<"$output" || { echo "expected $error in: $output"; return 1; }
}

# It prints the definition again, and its complaints to standard error.
accepts() {
  local complaints status
  complaints=$("$@" 2>&1 >/dev/null)
  status=$?
  [ $status -eq 0 ] && [ -z "$complaints" ] && return
  echo "$complaints"
  return 1
}

check "validate-idl accepts the interface file without a warning" \
  accepts varlinkctl validate-idl /mnt/io.livehost.Control.varlink
check "info names the product" contains livehostd varlinkctl info $address
check "info names the interfaces" contains io.systemd.service varlinkctl info $address
check "list-interfaces" contains $interface varlinkctl list-interfaces $address
check "list-methods" contains $interface.MonitorRoom varlinkctl list-methods $address
check "introspect prints the definition" contains "method MonitorRoom" \
  varlinkctl introspect $address $interface
for other in org.varlink.service io.systemd.service; do
  varlinkctl introspect $address $other >"$directory/run/$other.varlink" 2>/dev/null
  check "validate-idl accepts $other" accepts varlinkctl validate-idl /mnt/$other.varlink
done
check "call" contains '"uptimeSeconds"' call $address $interface.GetStatus '{}'
check "call that changes something" call $address $interface.OpenRoom '{"room":"main"}'
check "call with parameters" contains '"received":2' call --json=short $address $interface.SendEvents \
  '{"events":[{"type":"viewers","count":12},{"type":"title","title":"Hello"}]}'
check "an error has its name" fails_with NoSuchRoom call $address $interface.GetRoom '{"room":"x"}'
check "a method with one reply and --more" contains '"rooms"' call --more $address $interface.ListRooms '{}'
check "--oneway" call --oneway $address io.systemd.service.Ping '{}'

# A monitor: the first reply, a change, and the end of the room.
monitored() {
  local watching output=$directory/monitored
  varlinkctl --more --json=short call $address $interface.MonitorRoom '{"room":"main"}' \
    >"$output" 2>&1 &
  watching=$!
  lines() { # how many replies there are at least
    for _ in $(seq 600); do
      [ "$(wc -l <"$output")" -ge "$1" ] && return
      kill -0 $watching 2>/dev/null || break
      sleep 0.05
    done
    echo "fewer than $1 replies:"
    cat "$output"
    return 1
  }
  lines 1 || return 1
  call $address $interface.SendEvents '{"events":[{"type":"title","title":"Changed"}]}' >/dev/null
  lines 2 || return 1
  call $address $interface.CloseRoom '{"room":"main"}' >/dev/null
  wait $watching
  grep -q '"room":{' "$output" && grep -q '"patch".*"title":"Changed"' "$output" &&
    grep -q NoSuchRoom "$output" || { cat "$output"; return 1; }
}
check "--more gives the state, then a patch for each change, then the end" monitored
finish

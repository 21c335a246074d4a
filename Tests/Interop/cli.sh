#!/bin/bash
# Uses a running livehostd through a public Varlink client, PyPI's varlink.
#
#   cli.sh SOCKET
#
# SOCKET is the daemon's io.livehost.Control. Opens and closes a room of its own.
set -u
here=$(dirname "$(readlink -f "$0")")
. "$here/lib.sh"
socket=${1:?usage: cli.sh SOCKET}
if ! interpreter=$("$here/../Support/python.sh"); then
  skip 17 "PyPI varlink cannot be installed (no network, or no python3-venv)"
  finish
fi
interface=unix:$socket/io.livehost.Control
cli() { "$interpreter" -m varlink.cli "$@"; }
call() { cli call "$interface.$1" "${2:-{\}}"; }
room=interop-$$

check "info names the interface" contains io.livehost.Control cli info "unix:$socket"
check "info names org.varlink.service" contains org.varlink.service cli info "unix:$socket"
check "help prints the definition" contains "method MonitorRoom" cli help "$interface"
check "GetStatus" contains '"uptimeSeconds"' call GetStatus
check "OpenRoom" silent call OpenRoom "{\"room\":\"$room\"}"
check "OpenRoom again" contains RoomExists call OpenRoom "{\"room\":\"$room\"}"
check "ListRooms" contains "\"$room\"" call ListRooms
check "SendEvents" contains '"received": 2' call SendEvents \
  "{\"room\":\"$room\",\"events\":[{\"type\":\"viewers\",\"count\":12},{\"type\":\"title\",\"title\":\"Hello\"}]}"
check "GetRoom has the title" contains '"title": "Hello"' call GetRoom "{\"room\":\"$room\"}"
check "GetRoom of one feature" contains '"viewers": 12' call GetRoom \
  "{\"room\":\"$room\",\"feature\":\"header\"}"
check "MonitorRoom without more gives one state" contains '"sequence"' call MonitorRoom \
  "{\"room\":\"$room\"}"
check "a bad event is named" contains InvalidEvent call SendEvents \
  "{\"room\":\"$room\",\"events\":[{\"type\":\"nonsense\"}]}"
check "an unknown feature is refused" contains InvalidParameter call GetRoom \
  "{\"room\":\"$room\",\"feature\":\"nonsense\"}"
check "an unknown parameter is refused" contains InvalidParameter call GetStatus '{"x":1}'
check "CloseRoom" silent call CloseRoom "{\"room\":\"$room\"}"
check "GetRoom afterwards" contains NoSuchRoom call GetRoom "{\"room\":\"$room\"}"
check "an unknown method is refused" contains MethodNotFound call Nonsense
finish

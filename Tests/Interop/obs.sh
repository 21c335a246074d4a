#!/bin/bash
# Watches and drives a real OBS with livehost-source: `obs.sh BIN`, where BIN is the directory of the programs.
# First one that breaks off and spoils its messages, with PyPI's websockets.
# OBS and Xvfb are installed by packaging/dependencies.sh; nginx with its RTMP module is unpacked rather than installed,
# since a package would start its service.
set -u
cd "$(dirname "$0")/../.." || exit 1
. Tests/Interop/lib.sh
bin=$(readlink -f "${1:?usage: obs.sh BIN}")
# Without it the first peer fails.
interpreter=$(Tests/Support/python.sh)
report() {
  local output
  output=$("$@")
  [ $? -eq 0 ] || failed=$((failed + 1))
  echo "$output" | sed '/passed, [0-9]* failed$/d'
  passed=$((passed + $(echo "$output" | grep -c '^ok: ')))
}
report "$interpreter" Tests/Interop/websocket-peer.py "$bin"
servers=.build/rtmp-server
unpack() {
  [ -x "$servers/usr/sbin/nginx" ] && return
  rm -rf "$servers" && mkdir -p "$servers/packages" || return
  (cd "$servers/packages" && apt-get download nginx libnginx-mod-rtmp) >/dev/null 2>&1 || return
  for package in "$servers"/packages/*.deb; do dpkg -x "$package" "$servers" || return; done
}
if ! command -v obs >/dev/null || ! command -v Xvfb >/dev/null; then
  skip 27 "OBS and Xvfb are not installed"
  finish
elif ! unpack; then
  skip 27 "nginx cannot be downloaded"
  finish
fi
report python3 Tests/Interop/obs.py "$bin" "$(readlink -f "$servers")"
finish

#!/bin/bash
# Reads chats of real IRC servers with livehost-source: `sources.sh BIN`, where BIN is the directory of the
# programs. InspIRCd (TLS, IRCv3) and ngircd (no tags) are Debian's; they are unpacked rather than installed,
# since a package would start its service.
set -u
cd "$(dirname "$0")/../.." || exit 1
. Tests/Interop/lib.sh
bin=$(readlink -f "${1:?usage: sources.sh BIN}")
servers=.build/irc-servers
unpack() {
  [ -x "$servers/usr/sbin/ngircd" ] && return
  rm -rf "$servers" && mkdir -p "$servers/packages" || return
  (cd "$servers/packages" && apt-get download inspircd ngircd libident libpam0g) >/dev/null 2>&1 || return
  for package in "$servers"/packages/*.deb; do dpkg -x "$package" "$servers" || return; done
}
if ! unpack; then
  skip 18 "the IRC servers cannot be downloaded"
  finish
fi
python3 Tests/Interop/sources.py "$bin" "$(readlink -f "$servers")"

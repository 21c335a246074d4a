#!/bin/bash
# What local users and senders whom nobody trusts can do to a daemon: `strangers.sh BIN`, where BIN is the
# directory of the programs. Needs root, to be another user; without it, everything is skipped.
set -u
here=$(dirname "$(readlink -f "$0")")
. "$here/lib.sh"
bin=${1:?usage: strangers.sh BIN}
if [ "$(id -u)" -ne 0 ]; then
  echo "skipped: strangers.sh has to be run by root, to become another user"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
fi
directory=$(mktemp -d)
# Strangers have to reach the sockets, as in the installed service.
chmod 755 "$directory"
mkdir -m 755 "$directory/run"
"$bin/livehostd" --runtime-dir "$directory/run" --state-dir "$directory/state" 2>"$directory/log" &
daemon=$!
trap stop_daemon EXIT
wait_for_socket "$directory/run/io.livehost.Control" "$daemon" || {
  cat "$directory/log"
  echo "0 passed, 1 failed"
  exit 1
}
python3 "$here/strangers.py" "$directory/run" "$daemon" "$bin"

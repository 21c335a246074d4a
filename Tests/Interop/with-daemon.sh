#!/bin/bash
# Runs a command against a daemon of its own: `with-daemon.sh BIN COMMAND [ARG ...]`, where BIN is the
# directory of livehostd and the control socket's path is put behind COMMAND.
set -u
here=$(dirname "$(readlink -f "$0")")
. "$here/lib.sh"
bin=${1:?usage: with-daemon.sh BIN COMMAND [ARG ...]}
shift
directory=$(mktemp -d)
"$bin/livehostd" --runtime-dir "$directory/run" --state-dir "$directory/state" 2>"$directory/log" &
daemon=$!
cleanup() {
  kill "$daemon" 2>/dev/null
  wait "$daemon" 2>/dev/null
  rm -rf "$directory"
}
trap cleanup EXIT
socket=$directory/run/io.livehost.Control
if ! wait_for_socket "$socket" "$daemon"; then
  cat "$directory/log"
  echo "0 passed, 1 failed"
  exit 1
fi
command=$1
shift
"$command" "$socket" "$@"

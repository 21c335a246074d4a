#!/bin/bash
# Runs a command against a daemon of its own: `with-daemon.sh BIN COMMAND [ARG ...]`, where BIN is the
# directory of livehostd and the control socket's path is put behind COMMAND.
set -u
here=$(dirname "$(readlink -f "$0")")
. "$here/lib.sh"
bin=${1:?usage: with-daemon.sh BIN COMMAND [ARG ...]}
shift
start_daemon "$bin"
command=$1
shift
"$command" "$socket" "$@"

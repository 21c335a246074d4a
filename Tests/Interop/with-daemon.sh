#!/bin/bash
# Runs a command with a private daemon: `with-daemon.sh BIN COMMAND [ARG ...]`, where BIN is the directory of
# livehostd. The path of the control socket becomes the command's first argument.
set -u
here=$(dirname "$(readlink -f "$0")")
. "$here/lib.sh"
bin=${1:?usage: with-daemon.sh BIN COMMAND [ARG ...]}
shift
start_daemon "$bin"
command=$1
shift
"$command" "$socket" "$@"

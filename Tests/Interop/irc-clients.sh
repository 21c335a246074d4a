#!/bin/bash
# Checks the scripted Twitch of the tests with IRC clients of others: `irc-clients.sh PROGRAM`, where PROGRAM is
# ScriptedTwitch. The clients are PyPI's irc and pydle.
set -u
cd "$(dirname "$0")/../.." || exit 1
. Tests/Interop/lib.sh
program=$(readlink -f "${1:?usage: irc-clients.sh PROGRAM}")
if ! interpreter=$(Tests/Support/python.sh); then
  skip 11 "irc and pydle cannot be installed"
  finish
fi
timeout --kill-after=5 120 "$interpreter" Tests/Interop/irc_clients.py "$program"

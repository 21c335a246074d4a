#!/bin/bash
# Checks the scripted Twitch of the tests with IRC clients of others: `irc-clients.sh PROGRAM`, where PROGRAM is
# ScriptedTwitch. The clients are PyPI's irc and pydle, in a virtual environment.
set -u
cd "$(dirname "$0")/../.." || exit 1
. Tests/Interop/lib.sh
program=$(readlink -f "${1:?usage: irc-clients.sh PROGRAM}")
environment=.build/irc-clients-venv
if ! "$environment/bin/python" -c 'import irc, pydle' 2>/dev/null; then
  python3 -m venv "$environment" && timeout 120 "$environment/bin/pip" install --quiet irc pydle
fi
if ! "$environment/bin/python" -c 'import irc, pydle' 2>/dev/null; then
  skip 11 "irc and pydle cannot be installed"
  finish
fi
timeout --kill-after=5 120 "$environment/bin/python" Tests/Interop/irc_clients.py "$program"

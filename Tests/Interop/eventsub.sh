#!/bin/bash
# Reads a scripted EventSub with livehost-source: `eventsub.sh BIN`, where BIN is the directory of the programs.
# Also takes webhooks and reads a scripted Social Stream Ninja. The scripted EventSub is checked with PyPI's twitchAPI, in a
# virtual environment.
set -u
cd "$(dirname "$0")/../.." || exit 1
. Tests/Interop/lib.sh
bin=$(readlink -f "${1:?usage: eventsub.sh BIN}")
environment=.build/eventsub-venv
if ! "$environment/bin/python" -c 'import twitchAPI' 2>/dev/null; then
  python3 -m venv "$environment" && "$environment/bin/pip" install --quiet twitchAPI
fi
if ! "$environment/bin/python" -c 'import twitchAPI' 2>/dev/null; then
  skip 20 "twitchAPI cannot be installed"
  finish
fi
"$environment/bin/python" Tests/Interop/eventsub.py "$bin"

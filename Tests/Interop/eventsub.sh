#!/bin/bash
# Reads a scripted EventSub with livehost-source: `eventsub.sh BIN`, where BIN is the directory of the programs.
# Also takes webhooks and reads a scripted Social Stream Ninja. The scripted EventSub is checked with PyPI's twitchAPI.
set -u
cd "$(dirname "$0")/../.." || exit 1
. Tests/Interop/lib.sh
bin=$(readlink -f "${1:?usage: eventsub.sh BIN}")
if ! interpreter=$(Tests/Support/python.sh); then
  skip 20 "twitchAPI cannot be installed"
  finish
fi
"$interpreter" Tests/Interop/eventsub.py "$bin"

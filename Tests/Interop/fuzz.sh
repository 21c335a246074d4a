#!/bin/bash
# Sends malformed and adversarial messages and lines to a daemon of its own: `fuzz.sh BIN [MESSAGES] [LINES]`,
# where BIN is the directory of the programs. FUZZ_SEED repeats a run.
set -u
here=$(dirname "$(readlink -f "$0")")
. "$here/lib.sh"
start_daemon "${1:?usage: fuzz.sh BIN [MESSAGES] [LINES]}"
python3 "$here/fuzz.py" "$socket" "$directory/run/ingest" "$daemon" --messages "${2:-20000}" \
  --lines "${3:-20000}" --seed "${FUZZ_SEED:-$(date +%s)}"

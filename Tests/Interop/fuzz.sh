#!/bin/bash
# Sends malformed and adversarial frames and lines to a daemon of its own: `fuzz.sh BIN [FRAMES] [LINES]`,
# where BIN is the directory of the programs. FUZZ_SEED repeats a run.
set -u
here=$(dirname "$(readlink -f "$0")")
. "$here/lib.sh"
start_daemon "${1:?usage: fuzz.sh BIN [FRAMES] [LINES]}"
python3 "$here/fuzz.py" "$socket" "$directory/run/ingest" "$daemon" --frames "${2:-20000}" \
  --lines "${3:-20000}" --seed "${FUZZ_SEED:-$(date +%s)}"

#!/usr/bin/env bash
# Runs Python tests: `pytest.sh BIN TEST... [OPTION...]`, where BIN is the directory of the built
# programs and the rest are arguments of pytest.
set -euo pipefail
bin=$(readlink -f "${1:?usage: pytest.sh BIN TEST...}")
python=$("$(dirname "$0")/python.sh")
exec "$python" -m pytest --programs "$bin" "${@:2}"

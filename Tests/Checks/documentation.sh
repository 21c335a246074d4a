#!/usr/bin/env bash
# Checks that every public symbol of the library products is documented: `documentation.sh BIN`, where
# BIN is the directory of a build. Prints the undocumented ones, and a closing count.
set -uo pipefail
cd "$(dirname "$0")/../.."
bin=${1:?usage: documentation.sh BIN}
passed=0 failed=0
graphs=$(mktemp -d)
trap 'rm -rf "$graphs"' EXIT
for module in Composable ComposableTesting; do
  if swift symbolgraph-extract -module-name "$module" -I "$bin/Modules" -output-dir "$graphs" \
    -target "$(uname -m)-unknown-linux-gnu" -minimum-access-level public &&
    Tests/Checks/undocumented.py "$graphs/$module.symbols.json"; then
    passed=$((passed + 1))
    echo "ok: $module is documented"
  else
    failed=$((failed + 1))
    echo "FAILED: $module has undocumented symbols, or none that could be read"
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

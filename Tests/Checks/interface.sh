#!/usr/bin/env bash
# Checks the public interface of the library products: `interface.sh BIN [--write]`, where BIN is the
# directory of a build. Every public symbol is documented, and every public declaration is in the lists in
# Tests/Checks/Interface, which --write renews. Prints what is not, and a closing count.
set -uo pipefail
cd "$(dirname "$0")/../.."
bin=${1:?usage: interface.sh BIN [--write]}
write=${2:-}
. Tests/Interop/lib.sh
graphs=$(mktemp -d)
trap 'rm -rf "$graphs"' EXIT

for module in Composable ComposableTesting HangCommand HangSimulation HangTesting; do
  check "the interface of $module can be read" \
    swift symbolgraph-extract -module-name "$module" -I "$bin/Modules" -output-dir "$graphs" \
    -target "$(uname -m)-unknown-linux-gnu" -minimum-access-level public
  check "$module is documented" Tests/Checks/undocumented.py "$graphs/$module.symbols.json"
done
if [ "$failed" -eq 0 ]; then
  # shellcheck disable=SC2086
  check 'the public interface is as it is listed, and CHANGELOG.md names what is gone' \
    Tests/Checks/interface.py $write "$graphs"/*.symbols.json
fi
finish

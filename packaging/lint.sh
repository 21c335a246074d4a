#!/usr/bin/env bash
# Checks of style that need no build: format, imports against declared dependencies, words that must
# not be in the sources.
set -uo pipefail
cd "$(dirname "$0")/.."
failed=0

report() { # title, lines
  [ -n "$2" ] || return 0
  echo "lint: $1"
  printf '%s\n' "$2" | sed 's/^/  /' | head -n 40
  failed=1
}

echo "lint: format"
report 'not formatted; run make format' \
  "$(swift format lint --strict --parallel --recursive Package.swift Sources Tests 2>&1 | grep -E 'error|warning')"

echo "lint: imports"
report 'an import that Package.swift does not declare, or one that points up the road of an event' \
  "$(packaging/check-imports.py 2>&1)"

echo "lint: words"
report 'left for later in the code' \
  "$(git grep -nE '\b(TODO|FIXME|XXX|HACK)\b' -- Sources Tests packaging ':!packaging/lint.sh')"
report 'try!, fatalError or print in library code' \
  "$(git grep -nE '\btry!|\bfatalError\(|^[[:space:]]*print\(' -- Sources \
    ':!Sources/livehostctl' ':!Sources/Control/CommandLineTool' ':!*.docc/*')"
# Benchmarks may pace their load by time.
report 'a sleeping or disabled test' \
  "$(git grep -nE '\.disabled\(|XCTSkip|Task\.sleep|usleep\(' -- Tests ':!Tests/Benchmarks')"
report 'wall clock or system randomness in code that must be deterministic' \
  "$(git grep -nE '\bDate\(\)|ContinuousClock\(\)|\.random\(in:|SystemRandomNumberGenerator' \
    -- Sources/Features Sources/Kit Sources/Simulation ':!*.docc/*' \
    ':!Sources/Kit/Composable/Dependencies/Dependencies.swift')"

[ $failed -eq 0 ] && echo "lint: fine"
exit $failed

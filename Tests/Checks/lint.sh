#!/usr/bin/env bash
# Checks the sources without a build: format, imports, forbidden words, documents, versions. The
# last line is `N passed, N failed`.
set -uo pipefail
cd "$(dirname "$0")/../.."
passed=0 failed=0

# Most checks use git, whose empty output outside a work tree would look like a success.
if ! git grep -q --fixed-strings swift-tools-version -- Package.swift; then
  echo "lint: needs a git work tree with Package.swift in it"
  echo "0 passed, 1 failed"
  exit 1
fi

check() { # the message of a failure, the offending lines (none: passed)
  if [ -z "$2" ]; then
    passed=$((passed + 1))
    return
  fi
  failed=$((failed + 1))
  echo "lint: $1"
  printf '%s\n' "$2" | sed 's/^/  /' | head -n 40
}

found() { # pattern, paths...
  local pattern=$1
  shift
  git grep -nPI "$pattern" -- "$@" ':!Tests/Checks/lint.sh'
}

check 'not formatted; run make format' \
  "$(swift format lint --strict --parallel --recursive Package.swift Sources Tests 2>&1 | grep -E 'error|warning')"
check 'an import that Package.swift does not declare, or an import of a later folder' \
  "$(Tests/Checks/check-imports.py 2>&1)"
check 'a TODO or similar in the code' \
  "$(found '\b(TODO|FIXME|XXX|HACK)\b' Sources Tests packaging)"
check 'try!, fatalError or print in library code' \
  "$(found '\btry!|\bfatalError\(|^\s*print\(' Sources ':!Sources/livehostctl' \
    ':!Sources/Control/CommandLineTool' ':!Sources/Examples/TerminalCounter' ':!*.docc/*')"
# Benchmarks may sleep to pace their load.
check 'a sleeping or disabled test' \
  "$(found '\.disabled\(|XCTSkip|Task\.sleep|usleep\(' 'Tests/*.swift' ':!Tests/Benchmarks')"
check 'wall clock or system randomness in code that must be deterministic' \
  "$(found '\bDate\(\)|ContinuousClock\(\)|\.random\(in:|SystemRandomNumberGenerator' \
    Sources/Features Sources/Libraries Sources/Simulation ':!*.docc/*' \
    ':!Sources/Libraries/Composable/Dependencies/Dependencies.swift')"
check 'the name of a package mirror; scripts read it from the configuration of apt' \
  "$(found '(deb|ftp|security|snapshot)[a-z0-9.]*\.debian\.org' Tests packaging .ci Makefile)"

check 'a line of more than 100 columns; tables, code and output in documents may be longer' \
  "$(git ls-files '*.swift' '*.sh' '*.md' '*.in' .ci/run ':!Tests/Corpus' | python3 -c 'import re, sys
for name in sys.stdin.read().split():
    fenced = False
    for number, line in enumerate(open(name), 1):
        fenced ^= line.lstrip().startswith("```")
        prose = not fenced and not line.startswith(("|", "    ")) if name.endswith(".md") else (
            re.match(r"[^.\\].*[^e\n]$" if name.endswith("in") else r" *(///|//(?!/)) ?(?!    )" if name.endswith("swift") else r" *#", line))
        if len(line.rstrip("\n")) > 100 and prose:
            print(f"{name}:{number}: {len(line) - 1} columns")')"
check 'a type name that exists twice' "$(Tests/Checks/names.py)"
check 'README.md has at most 7,000 bytes, ARCHITECTURE.md at most 12,000' \
  "$(for page in README.md:7000 ARCHITECTURE.md:12000; do
    size=$(wc -c <"${page%:*}")
    [ "$size" -le "${page#*:}" ] || echo "$page: $size"
  done)"

check 'a target that is missing from the code map of ARCHITECTURE.md' \
  "$(for target in Sources/*/*/; do
    # Parts of the screen share a line of the map, and C modules belong to a Swift module.
    [[ $target =~ Feature/$|/C(NATS|Simdjson|SystemSupport|Systemd|Zlib)/$ ]] && continue
    grep -qF "\`$(basename "$target")\`" ARCHITECTURE.md || echo "$target"
  done)"
check 'a document names a file that does not exist (Poll stands for a new part)' \
  "$(grep -oE '`(Sources|Tests|packaging)/[A-Za-z0-9_./+-]+`' ARCHITECTURE.md CONTRIBUTING.md README.md Tests/README.md Sources/*/README.md |
    grep -vE 'Poll|NAME' | while IFS='\`' read -r page path _; do [ -e "$path" ] || echo "$page $path"; done)"

check 'mutations.toml does not fit the sources' \
  "$(Tests/Checks/mutations.py --check 2>&1 | grep -v '^[0-9]* passed, 0 failed$')"

package=$(sed -nE '1s/.*\((.*)\).*/\1/p' packaging/debian/changelog)
program=$(sed -nE 's/.*livehostVersion = "(.*)"/\1/p' Sources/Control/ControlInterface/Version.swift)
check 'packaging/debian/changelog and Version.swift name different versions' \
  "$([ "$package" = "$program" ] || echo "$package, $program")"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

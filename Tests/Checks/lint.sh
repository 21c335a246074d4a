#!/usr/bin/env bash
# Checks that need no build: format, imports against declared dependencies, words that must not be in
# the sources, the version's two places. Ends with `N passed, N failed`.
set -uo pipefail
cd "$(dirname "$0")/../.."
passed=0 failed=0

# Most checks ask git, which prints nothing where it cannot look: no finding would then look like none.
if ! git grep -q --fixed-strings swift-tools-version -- Package.swift; then
  echo "lint: needs a git work tree with Package.swift in it"
  echo "0 passed, 1 failed"
  exit 1
fi

check() { # what is wrong if there are lines, lines
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
check 'an import that Package.swift does not declare, or one that points up the road of an event' \
  "$(Tests/Checks/check-imports.py 2>&1)"
check 'left for later in the code' \
  "$(found '\b(TODO|FIXME|XXX|HACK)\b' Sources Tests packaging)"
check 'try!, fatalError or print in library code' \
  "$(found '\btry!|\bfatalError\(|^\s*print\(' Sources ':!Sources/livehostctl' \
    ':!Sources/Control/CommandLineTool' ':!Sources/Examples/TerminalCounter' ':!*.docc/*')"
# Benchmarks may pace their load by time.
check 'a sleeping or disabled test' \
  "$(found '\.disabled\(|XCTSkip|Task\.sleep|usleep\(' 'Tests/*.swift' ':!Tests/Benchmarks')"
check 'wall clock or system randomness in code that must be deterministic' \
  "$(found '\bDate\(\)|ContinuousClock\(\)|\.random\(in:|SystemRandomNumberGenerator' \
    Sources/Features Sources/Kit Sources/Simulation ':!*.docc/*' \
    ':!Sources/Kit/Composable/Dependencies/Dependencies.swift')"
check 'the name of a package mirror; scripts read it from the configuration of apt' \
  "$(found '(deb|ftp|security|snapshot)[a-z0-9.]*\.debian\.org' Tests packaging .ci Makefile)"

# Phrases that are never right in English. STYLE: write what an English-speaking engineer would write.
phrases='[Ww]hat came of|(?<!here )(?<!/// )\b(is|are) none\b|(?<!here )\b(is|are) no (valid|YAML|JSON|name|object|number|event|list|file|option|time|unit)\b'
phrases+='|\b[Oo]nly so many|\blets so many|\bwhose it is\b|\bin whatever case\b|\bhad it evaluated\b'
phrases+='|\bis to be (told|feared)\b|\btells of\b|\bof kind \w+ (is|are)\b|\bmade anew\b|\btold twice\b'
prose=(README.md ARCHITECTURE.md CONTRIBUTING.md Makefile .ci packaging Sources Tests)
check 'a phrase that is not English' "$(found "$phrases" "${prose[@]}")"

check 'a target that is missing from the code map of ARCHITECTURE.md' \
  "$(for target in Sources/*/*/; do
    # The parts of the screen share a row.
    [[ $target == Sources/Features/*Feature/ ]] && continue
    grep -qF "\`$(basename "$target")\`" ARCHITECTURE.md || echo "$target"
  done)"
check 'CONTRIBUTING.md names a file that does not exist (Poll stands for a new part)' \
  "$(grep -oE '`(Sources|Tests|packaging)/[A-Za-z0-9_./+-]+`' ARCHITECTURE.md CONTRIBUTING.md README.md |
    grep -vE 'Poll|NAME' | while IFS='\`' read -r page path _; do [ -e "$path" ] || echo "$page $path"; done)"

check 'mutations.toml does not fit the sources' \
  "$(Tests/Checks/mutations.py --check 2>&1 | grep -v '^[0-9]* passed, 0 failed$')"

package=$(sed -nE '1s/.*\((.*)\).*/\1/p' packaging/debian/changelog)
program=$(sed -nE 's/.*livehostVersion = "(.*)"/\1/p' Sources/Control/ControlInterface/Version.swift)
check 'packaging/debian/changelog and Version.swift name different versions' \
  "$([ "$package" = "$program" ] || echo "$package, $program")"

check 'README.md does not show packaging/examples/source.py as it is' \
  "$(python3 -c 'import sys
readme, source = (open(name).read() for name in sys.argv[1:])
if source not in readme.replace("\n    ", "\n"): print(sys.argv[2])' README.md packaging/examples/source.py)"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

#!/usr/bin/env bash
# Checks that run.sh counts what is skipped: `counting.sh BIN`, where BIN is the directory of a build. Runs
# run.sh in a folder of its own, with three of the package's tests, one of which cannot run, and with other
# scripts that only print their count, of which one has skipped something.
set -uo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/Interop/lib.sh"
bin=$(cd "${1:?usage: counting.sh BIN}" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

mkdir -p "$folder/Tests" "$folder/programs" "$folder/bin"
cp "$here/run.sh" "$here/count.sh" "$folder/Tests"
scripts=0
for script in $(sed -nE 's/^script [a-z-]+ [0-9]+ ([^ ]+).*/\1/p' "$here/run.sh"); do
  mkdir -p "$folder/$(dirname "$script")"
  printf '#!/bin/sh\necho "1 passed, 0 failed"\n' >"$folder/$script"
  chmod +x "$folder/$script"
  scripts=$((scripts + 1))
done
skipping=$folder/Tests/Interop/strangers.sh
cat >"$folder/programs/swift" <<SWIFT
#!/bin/sh
case "\$*" in
  *--show-bin-path*) echo "$folder/bin" ;;
  build*) echo 'Build complete!' ;;
esac
SWIFT
tests=$folder/bin/livehostPackageTests.xctest
cat >"$tests" <<TESTS
#!/bin/sh
exec "$bin/livehostPackageTests.xctest" "\$@" --filter 'ComposableTests.TypeCheckTests|SuggestionsTests'
TESTS
chmod +x "$folder/programs/swift" "$tests"

# run VARIABLE=VALUE...: runs run.sh; sets status and last, its last line. Lines of a log are also to be
# counted where a terminal is named.
run() {
  (
    cd "$folder" || exit
    env -u LIVEHOST_REQUIRE_ALL -u NO_COLOR TERM=xterm PATH="$folder/programs:$PATH" "$@" Tests/run.sh
  ) >"$folder/output" 2>&1
  status=$?
  last=$(tail -n 1 "$folder/output")
}
ended() { # status, last line
  [ "$status $last" = "$*" ] || { echo "expected $*, got $status $last" && cat "$folder/output" && false; }
}
listed() { grep -qE "$1" "$folder/output" || { cat "$folder/output" && false; }; }

# The type checker's test needs the macros.
if [ ! -x "$bin/ComposableMacros-tool" ]; then
  skipped=1
  echo "skipped: $bin has no ComposableMacros-tool"
  finish
fi
run MACRO_TOOL="$bin/ComposableMacros-tool"
check 'what is run is counted' ended 0 "$((scripts + 3)) passed, 0 failed"

printf '#!/bin/sh\necho "skipped: it says why"\necho "0 passed, 0 failed, 1 skipped"\n' >"$skipping"
run MACRO_TOOL=/nothing
check 'what is skipped is subtracted and counted' ended 0 "$((scripts + 1)) passed, 0 failed, 2 skipped"
check 'a skipped test is listed with its reason' listed '^. Test ".*" skipped: "needs swiftc'
check 'a skipped script is listed with its reason' listed '^skipped: it says why$'

run MACRO_TOOL=/nothing LIVEHOST_REQUIRE_ALL=1
check 'what is skipped has failed where everything is required' ended 1 "$((scripts + 1)) passed, 2 failed"

printf '#!/bin/sh\nexit 3\n' >"$skipping"
run MACRO_TOOL="$bin/ComposableMacros-tool"
check 'a script that ends without a count has failed' ended 1 "$((scripts + 2)) passed, 1 failed"
check 'what failed is told once more at the end' listed '^strangers.log:FAILED: strangers ended with status 3'

# As `timeout` ends it.
printf '#!/bin/sh\necho "1 passed, 0 failed"\n' >"$skipping"
printf '#!/bin/sh\necho "◇ Test \"it waits\" started."\nexit 124\n' >"$tests"
run MACRO_TOOL="$bin/ComposableMacros-tool"
check 'tests that do not end have failed' listed '^FAILED: tests did not end in time$'
check 'the test that does not end is named' listed '^tests.log:FAILED: the last test begun: .*it waits'
finish

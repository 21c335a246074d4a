#!/usr/bin/env bash
# Runs tests of the package once more as an ordinary user, in another zone and with another language:
# `elsewhere.sh BIN [FILTER]`, where BIN is the directory of a build. By default those that read the zone,
# the language, the user or the home directory; a filter of `.` runs all of them.
set -uo pipefail
. "$(dirname "$0")/Interop/lib.sh"
. "$(dirname "$0")/count.sh"
bin=$(cd "${1:?usage: elsewhere.sh BIN [FILTER]}" && pwd)
values='CommandLineToolTests|YAMLReaderTests|SystemdTests|UnixSocketsTests'
filter=${2:-$values|EndToEndTests.(Life|Reload|BadConf)}
cd "$(dirname "$0")/.."

if [ "$(id -u)" -ne 0 ]; then
  skipped=1
  echo "skipped: only root may run tests as another user"
  finish
fi
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
chown nobody "$home"
elsewhere() {
  env -i PATH="$PATH" HOME="$home" TMPDIR="$home" TZ=Asia/Seoul LC_ALL=ko_KR.UTF-8 \
    setpriv --reuid=nobody --regid=nogroup --clear-groups "${reading[@]}" -- "$@"
}
reading=()
# A checkout may be where only its owner reads. Then the tests get a capability to read it; the programs
# that tests start cannot have it.
if ! elsewhere test -r "$PWD/Package.swift" -a -r "$bin/livehostPackageTests.xctest"; then
  reading=(--inh-caps=-all,+dac_read_search --ambient-caps=-all,+dac_read_search)
  filter=$values
  echo "an ordinary user may not read $PWD: only $filter"
fi
log=$home.log
elsewhere "$bin/livehostPackageTests.xctest" --testing-library swift-testing --no-parallel \
  --filter "$filter" 2>&1 | tee "$log" | grep -E '✘|^. (Test|Suite) .* skipped: |Test run with'
status=${PIPESTATUS[0]}
# What is skipped needs root, and is run and counted by root.
count_tests "$log"
rm -f "$log"
failed=$bad
if [ "$failed" -eq 0 ] && [ "$status" -ne 0 ]; then failed=1; fi
passed=$((total - failed))
left=$(ls -A "$home")
check "nothing is left in the home directory: $left" test -z "$left"
finish

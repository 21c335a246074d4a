#!/bin/bash
# What people stumbled on who tried the programs, with the real ones: `faults.sh BIN`, where BIN is the directory of
# the programs. What can be seen without a daemon, a terminal or a browser is in UseTests, TypoTests and UsageTests.
set -u
cd "$(dirname "$0")/../.." || exit 1
. Tests/Interop/lib.sh
bin=$(readlink -f "${1:?usage: faults.sh BIN}")
start_daemon "$bin"
ctl() { "$bin/livehostctl" --socket "$socket" "$@"; }

# says CODE TEXT... -- COMMAND...: whether the command ends with CODE and prints each text on either stream; a text that
# begins with ! must not be there.
says() {
  local code=$1 texts=() output status text
  shift
  while [ "$1" != -- ]; do texts+=("$1"); shift; done
  shift
  output=$("$@" 2>&1)
  status=$?
  for text in "${texts[@]}"; do
    if [ "${text#!}" = "$text" ]; then
      grep -qF -- "$text" <<<"$output" || { printf 'no %s in:\n%s\n' "$text" "$output"; return 1; }
    else
      if grep -qF -- "${text#!}" <<<"$output"; then printf '%s in:\n%s\n' "${text#!}" "$output"; return 1; fi
    fi
  done
  [ $status -eq "$code" ] || { printf 'ended with %s:\n%s\n' "$status" "$output"; return 1; }
}

for program in livehostd livehost-web livehost-source livehost-gateway; do
  check "$program names an option that it does not know, and where its options are" \
    says 64 "nknown option '--nonsense'" --help "!: Error:" -- "$bin/$program" --nonsense
done
check "livehostd suggests the option that was meant" says 64 "'--check-config'" -- "$bin/livehostd" --chek-config

# Outside the source tree nothing is beside the program.
outside=$directory/outside
mkdir -p "$outside" && cp "$bin/livehostctl" "$outside"
demo_outside() { cd "$outside" && says 65 "livehostctl demo FILE" "$outside/config/recordings/" /usr/share/livehost/ -- ./livehostctl demo --once; }
if [ -e /usr/share/livehost ]; then
  skip 1 "livehost is installed, so that demo finds its recording"
else
  check "demo says where it looked for the recording, and what to give instead" demo_outside
fi

if [ "$(id -u)" -eq 0 ] && unshare --mount true 2>/dev/null; then
  without_journal() {
    unshare --mount sh -c 'for each in /run/log /var/log; do [ ! -d $each ] || mount -t tmpfs none $each; done; exec "$@"' sh "$@"
  }
  check "where no journal is, root is not told to become root" \
    says 1 "keeps no journal" "standard error" "!may read" -- without_journal "$bin/livehostctl" journal
else
  skip 1 "not root, or without mount namespaces: the journal cannot be hidden"
fi

check "a bare --json says what it takes" says 64 "--json=short" -- ctl status --json
documented() { # MODE
  ctl status "$1" >"$directory/status" || return 1
  "$bin/livehostctl" status --help >"$directory/help" || return 1
  python3 - "$directory/status" "$directory/help" <<'PYTHON'
import json, re, sys
members = set(json.load(open(sys.argv[1])))
always, _, sometimes = re.search(r"JSON: (.*?)\.\s", " ".join(open(sys.argv[2]).read().split())).group(1).partition(";")
words = lambda text: set(re.findall(r"[A-Za-z]+", text))
needed = words(always) - {"an", "object", "with", "and"}
assert len(needed) > 10, needed
assert needed <= members, f"not there: {needed - members}"
assert members <= needed | words(sometimes), f"not documented: {members - needed - words(sometimes)}"
PYTHON
}
for mode in --json=short --json=pretty -j; do
  check "status $mode has the members that its help lists" documented "$mode"
done

# Columns: what is on the left ends, and what is on the right begins, in the same column in each line.
ctl open examplehost
recording=$(ctl record start examplehost)
# One writes so much that the figures have different lengths.
for number in $(seq 120); do
  echo '{"type":"chat.message","room":"examplehost","id":"'"$number"'","user":{"id":"much","name":"much"},"text":"'"$number"'"}'
done >"$directory/much"
ctl ingest "$directory/much" >/dev/null
ctl ingest config/recordings/chat-burst.irc.gz --speed max >/dev/null 2>&1
ctl record stop examplehost >/dev/null
aligned() { # PATTERN ARGUMENTS...: the pattern of a line below the first one, in which a group ends where its column does
  local pattern=$1
  shift
  ctl "$@" >"$directory/table" || return 1
  python3 - "$directory/table" "$pattern" <<'PYTHON'
import re, sys
first, *lines = open(sys.argv[1]).read().splitlines()
assert re.match(r"\d{1,3}(,\d{3})* messages", first), first
assert len(lines) > 5, "too few lines to see anything"
matches = [re.match(sys.argv[2], line) for line in lines]
assert all(matches), lines
ends = {tuple(match.end(group) for group in range(1, match.re.groups + 1)) for match in matches}
assert len(ends) == 1, (ends, lines)
assert len({len(match[1].strip()) for match in matches}) > 1, "all numbers have as many digits"
PYTHON
}
check "the columns of analyze chatters are aligned" aligned '( *[0-9,]+)  \S' analyze chatters "$recording"
check "and those of analyze spam" aligned '( *[0-9,]+) in ( *[0-9,]+) (forms? {2,3})\S' analyze spam "$recording"
check "an analysis of a room is no failed task first" says 0 messages -- ctl analyze chatters examplehost
check "and leaves none in the log" says 1 -- grep -F "failed: NoSuchRecording" "$directory/log"

ctl send main '{"type":"recorder.state","state":"recording"}' >/dev/null
check "show has the recorder elsewhere" says 0 recording "!nothing to show" -- ctl show main recorder
check "an event that lacks a member is told its name" says 65 "'id' of chat.message" -- ctl send main '{"type":"chat.message"}'
ctl set main camera on
check "a switch that is probably misspelled is not made" says 1 "did you mean 'camera'" -- ctl set main camra on

# Input of which some is bad.
printf '%s\n' '{"type":"viewers","room":"mixed","count":7}' '{"type":"nonsense","room":"mixed"}' >"$directory/mixed"
check "partly bad input is played, and says what was wrong" says 0 "1 rejected" unknownType -- ctl ingest "$directory/mixed"
check "with --strict it is bad data" says 65 "1 rejected" unknownType "--strict" -- ctl ingest "$directory/mixed" --strict
check "and the rest is taken all the same" says 0 "7 viewers" -- ctl show mixed header
check "good input is not" says 0 "0 rejected" -- ctl ingest --strict - <<<'{"type":"viewers","room":"mixed","count":8}'

# Totals that were kept are no rate.
kill "$daemon" && wait "$daemon"
"$bin/livehostd" --runtime-dir "$directory/run" --state-dir "$directory/state" 2>>"$directory/log" &
daemon=$!
wait_for_socket "$socket" "$daemon"
check "after a restart nothing has come in, whatever the totals are" says 0 "events        0.0/s; 5,1" -- ctl status
finish

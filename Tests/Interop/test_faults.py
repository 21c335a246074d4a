"""Problems that users had with the programs. Tests that need no daemon, terminal or browser are in UseTests, TypoTests
and UsageTests."""
import json
import os
import re
import shutil
import subprocess

import pytest

from harness.places import BURST

HIDDEN = 'for each in /run/log /var/log; do [ ! -d $each ] || mount -t tmpfs none $each; done; exec "$0" journal'


@pytest.fixture
def says(check, daemon):
    """Checks the output and the exit status of livehostctl."""
    def says(name, status, arguments, *texts, **options):
        check.runs(name, [daemon.programs / "livehostctl", "--socket", daemon.control, *arguments], *texts,
                   status=status, **options)
    return says


def test_programs_suggest_the_option_that_was_meant(check, programs, tmp_path):
    for program in "livehostd", "livehost-web", "livehost-source", "livehost-gateway":
        check.runs(f"{program} refuses an unknown option, names it, and points to --help",
                   [programs / program, "--nonsense"], "nknown option '--nonsense'", "--help", "!: Error:", status=64)
    check.runs("livehostd suggests the option that was meant", [programs / "livehostd", "--chek-config"],
               "'--check-config'", status=64)
    if os.path.exists("/usr/share/livehost"):
        check.skip("livehost is installed, so that demo finds its recording")
    else:
        # Outside the source tree, the program's directory has no recording.
        check.runs("demo names the searched paths of the recording, and a remedy",
                   [shutil.copy(programs / "livehostctl", tmp_path), "demo", "--once"], "livehostctl demo FILE",
                   f"{tmp_path}/config/recordings/", "/usr/share/livehost/", status=65, cwd=tmp_path)
    if os.getuid() == 0 and subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode == 0:
        check.runs("without a journal, the error for root does not suggest becoming root",
                   ["unshare", "--mount", "sh", "-c", HIDDEN, programs / "livehostctl"],
                   "has no journal", "standard error", "!can read", status=1)
    else:
        check.skip("not root, or without mount namespaces: the journal cannot be hidden")


def test_status_has_the_members_that_its_help_lists(check, daemon, says):
    says("the error for --json without a mode names the modes", 64, ["status", "--json"], "--json=short")
    text = " ".join(daemon.ctl("status", "--help").split())
    always, sometimes = re.search(r"JSON: (.*?)\. (.*?)\.\s", text).groups()
    needed = set(re.findall("[A-Za-z]+", always)) - {"an", "object", "with", "and"}
    for mode in "--json=short", "--json=pretty", "-j":
        members = set(json.loads(daemon.ctl("status", mode)))
        check(f"status {mode} has the members that its help lists",
              len(needed) > 10 and needed <= members <= needed | set(re.findall("[A-Za-z]+", sometimes)),
              f"members {members}; the help has {always}, and sometimes {sometimes}")


def aligned(table, pattern):
    """Asserts that in all lines but the first, each group of the pattern ends in the same column."""
    first, *lines = table.splitlines()
    assert re.match(r"\d{1,3}(,\d{3})* messages", first), first
    assert len(lines) > 5, "there are too few lines to compare"
    matches = [re.match(pattern, line) for line in lines]
    assert all(matches), table
    assert len({tuple(match.end(group + 1) for group in range(match.re.groups)) for match in matches}) == 1, table
    assert len({len(match[1].strip()) for match in matches}) > 1, "all numbers have the same number of digits"


def test_columns_of_analyses_and_tables_are_aligned(check, daemon, says):
    daemon.ctl("open", "examplehost")
    recording = daemon.ctl("record", "start", "examplehost").strip()
    # One viewer writes so many messages that the figures have different lengths.
    user = {"id": "much", "name": "much"}
    daemon.send(*({"type": "chat.message", "room": "examplehost", "id": str(number), "user": user, "text": str(number)}
                  for number in range(1, 121)))
    daemon.ctl("ingest", BURST, "--speed", "max")
    daemon.ctl("record", "stop", "examplehost")
    with check.attempt("the columns of analyze chatters are aligned"):
        aligned(daemon.ctl("analyze", "chatters", recording), r"( *[0-9,]+)  \S")
    with check.attempt("the columns of analyze spam are aligned"):
        aligned(daemon.ctl("analyze", "spam", recording), r"( *[0-9,]+) in ( *[0-9,]+) (forms? {2,3})\S")
    says("a room can be analysed by its name", 0, ["analyze", "chatters", "examplehost"], "messages")
    check("the analysis of a room logs no failed task", "failed: NoSuchRecording" not in daemon.log.read_text(), daemon.log_tail())
    # The restored totals must not count as new events.
    daemon.stop()
    daemon.start()
    says("after a restart the rate of events is zero, whatever the totals are", 0, ["status"], "events        0.0/s; 5,1")


def test_invalid_input_is_explained(daemon, says, tmp_path):
    daemon.ctl("send", "main", '{"type":"recorder.state","state":"recording"}')
    says("show prints the state of an external recorder", 0, ["show", "main", "recorder"], "recording", "!nothing to show")
    says("the error for an event without a required member names the member", 65, ["send", "main", '{"type":"chat.message"}'],
         "'id' of chat.message")
    daemon.ctl("set", "main", "camera", "on")
    says("a switch with a probably misspelled name is not created", 1, ["set", "main", "camra", "on"], "did you mean 'camera'")
    mixed = tmp_path / "mixed"
    mixed.write_text('{"type":"viewers","room":"mixed","count":7}\n{"type":"nonsense","room":"mixed"}\n')
    says("ingest reports rejected events and their reasons", 0, ["ingest", mixed], "1 rejected", "unknownType")
    says("ingest --strict exits with 65 after a rejected event", 65, ["ingest", mixed, "--strict"], "1 rejected", "unknownType", "--strict")
    says("ingest --strict applies the other events", 0, ["show", "mixed", "header"], "7 viewers")
    says("ingest --strict exits with 0 if no event is rejected", 0, ["ingest", "--strict", "-"], "0 rejected",
         input='{"type":"viewers","room":"mixed","count":8}\n')

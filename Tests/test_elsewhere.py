"""Tests of the package once more, as an ordinary user, in another zone and with another language. By default those that
read the zone, the language, the user or the home directory; those that FILTER matches if it is set."""
import os
import shutil
import subprocess
import tempfile

from harness import swift
from harness.places import ROOT

VALUES = "CommandLineToolTests|YAMLReaderTests|SystemdTests|UnixSocketsTests"
USER = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]


def test_elsewhere(check, programs):
    if os.getuid() != 0:
        check.skip("only root may run tests as another user")
        return
    runner, wanted = programs / "livehostPackageTests.xctest", os.environ.get("FILTER")
    user, wanted = USER, wanted or f"{VALUES}|EndToEndTests.(Life|Reload|BadConf)"
    if subprocess.run([*user, "test", "-r", ROOT / "Package.swift", "-a", "-r", runner]).returncode != 0:
        # A checkout may be where only its owner reads. Then the tests get a capability to read it; the programs
        # that tests start cannot have it.
        user, wanted = [*user, "--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search"], VALUES
    with tempfile.TemporaryDirectory() as home:
        shutil.chown(home, "nobody")
        run = subprocess.run(
            [*user, runner, "--testing-library", "swift-testing", "--no-parallel", "--filter", wanted],
            cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={"PATH": os.environ["PATH"], "HOME": home, "TMPDIR": home, "TZ": "Asia/Seoul", "LC_ALL": "ko_KR.UTF-8"})
        left = os.listdir(home)
    # What is skipped needs root, and is run and counted by root.
    if (swift.count(check, run.stdout) == 0 or run.returncode != 0) and not check.failures:
        check("the tests end with 0", False, run.stdout[-4000:])
    check.equal("nothing is left in the home directory", left, [])

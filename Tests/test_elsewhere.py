"""Repeats tests of the package as an ordinary user, in another time zone and with another language. By default, these
are the tests that depend on the zone, the language, the user or the home directory. FILTER selects other tests."""
import os
import shutil
import subprocess
import tempfile

from harness import swift
from harness.places import ROOT

VALUES = "(CommandLineTool|TerminalScreen)Tests|YAMLReaderTests|SystemdTests|UnixSocketsTests"
USER = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]


def test_swift_tests_pass_for_another_user(check, programs):
    if os.getuid() != 0:
        check.skip("only root may run tests as another user")
        return
    runner, wanted = programs / "livehostPackageTests.xctest", os.environ.get("FILTER")
    user, wanted = USER, wanted or f"{VALUES}|EndToEndTests.(Life|Reload|BadConf)"
    if subprocess.run([*user, "test", "-r", ROOT / "Package.swift", "-a", "-r", runner]).returncode != 0:
        # Only the owner may be able to read the checkout. If so, the tests get a capability to read
        # the checkout. Programs that the tests start cannot have the capability.
        user, wanted = [*user, "--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search"], VALUES
    with tempfile.TemporaryDirectory() as home:
        shutil.chown(home, "nobody")
        run = subprocess.run(
            [*user, runner, "--testing-library", "swift-testing", "--no-parallel", "--filter", wanted],
            cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={"PATH": os.environ["PATH"], "HOME": home, "TMPDIR": home, "TZ": "Asia/Seoul", "LC_ALL": "ko_KR.UTF-8"})
        left = os.listdir(home)
    # Skipped tests need root and are counted in the run as root.
    if (swift.count(check, run.stdout) == 0 or run.returncode != 0) and not check.failures:
        check("the tests exit with 0", False, run.stdout[-4000:])
    check.equal("the tests leave no files in the home directory", left, [])

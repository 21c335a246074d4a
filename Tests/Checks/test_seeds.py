"""What the fuzzers begin with can be made from the files of the repository, for each parser that they run."""
import re
import sys

from harness.places import ROOT


def test_seeds(check, tmp_path):
    check.runs("the seeds are written", [sys.executable, ROOT / "Tests/Fuzzing/seeds.py", tmp_path], "snapshot: ")
    programs = [path.read_text() for path in (ROOT / "Tests/Fuzzing").glob("fuzz-*/main.swift")]
    parsers = re.findall(r'"([a-z]+)": \{', "".join(programs))
    seeded = [path.name for path in tmp_path.iterdir() if path.is_dir()]
    check.equal("each parser has some", sorted(seeded), sorted(parsers))

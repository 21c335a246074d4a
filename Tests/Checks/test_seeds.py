"""Checks that seeds.py generates inputs for each fuzzed parser from the files of the repository."""
import re
import sys

from harness.places import ROOT


def test_each_fuzzed_parser_has_seeds(check, tmp_path):
    check.runs("the seeds are written", [sys.executable, ROOT / "Tests/Fuzzing/seeds.py", tmp_path], "snapshot: ")
    programs = [path.read_text() for path in (ROOT / "Tests/Fuzzing").glob("fuzz-*/main.swift")]
    parsers = re.findall(r'"([a-z]+)": \{', "".join(programs))
    seeded = [path.name for path in tmp_path.iterdir() if path.is_dir()]
    check.equal("each parser has seeds", sorted(seeded), sorted(parsers))

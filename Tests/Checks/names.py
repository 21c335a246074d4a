#!/usr/bin/env python3
"""Prints the names that two top-level types in Sources share, because a name has one meaning in the whole package.
Extensions, nested types and types that are private to a file are ignored."""
import re
import subprocess
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TYPE = re.compile(
    r"^(?:(?:public|package|internal|final|indirect|nonisolated|@\w+(?:\([^)]*\))?) +)*"
    r"(?:struct|class|enum|actor|protocol|typealias) +(\w+)", re.MULTILINE)

files = subprocess.run(["git", "ls-files", "Sources/*.swift"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
places = defaultdict(set)
for name in files.split():
    for match in TYPE.finditer((ROOT / name).read_text()):
        places[match[1]].add(name)
for name, paths in sorted(places.items()):
    # Types for different systems may share a name in the branches of one #if.
    if len(paths) > 1:
        print(f"{name}: {', '.join(sorted(paths))}")

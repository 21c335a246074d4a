#!/usr/bin/env python3
"""Checks imports: each module of this package that a target imports is declared as its dependency,
and lower parts of the road of an event never import higher ones.

The order is that of the folders below Sources; see ARCHITECTURE.md.
"""
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# From the beginning of the road to its end. A folder may import itself and those before it.
ORDER = ["System", "Kit", "Examples", "Events", "Ingest", "Recordings", "Features", "Screen",
         "Simulation", "Control", "Daemon", "livehostd", "livehostctl", "Sources",
         "livehost-source", "Web", "livehost-web", "Gateway", "livehost-gateway"]
IMPORT = re.compile(
    r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|private|fileprivate)\s+)?"
    r"import\s+(?:struct\s+|enum\s+|class\s+|func\s+)?(\w+)", re.M)


def main():
    description = json.loads(subprocess.run(
        ["swift", "package", "describe", "--type", "json"], cwd=ROOT, check=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)
    targets = {target["name"]: target for target in description["targets"]}
    folder = {name: Path(target["path"]).parts[1] for name, target in targets.items()
              if Path(target["path"]).parts[0] == "Sources"}
    problems = []
    for name, target in sorted(targets.items()):
        declared = set(target.get("target_dependencies", []))
        path = ROOT / target["path"]
        for source in target.get("sources", []):
            if not source.endswith(".swift"):
                continue
            text = (path / source).read_text(encoding="utf-8")
            for module in set(IMPORT.findall(text)):
                if module not in targets or module == name:
                    continue
                if module not in declared:
                    problems.append(f"{target['path']}/{source}: imports {module}, "
                                    f"which is not a declared dependency of {name}")
        for dependency in declared:
            if name in folder and dependency in folder:
                here, there = ORDER.index(folder[name]), ORDER.index(folder[dependency])
                if there > here:
                    problems.append(f"{name} ({folder[name]}) depends on {dependency} "
                                    f"({folder[dependency]}), which comes later on the road")
        if folder.get(name) == "Features" and name not in ("HostFeature", "Intake"):
            for dependency in declared:
                if folder.get(dependency) == "Features" and dependency != "Intake":
                    problems.append(f"{name} depends on its sibling {dependency}; "
                                    "they communicate through HostFeature")
    print("\n".join(problems), end="")
    return 1 if problems else 0


sys.exit(main())

#!/usr/bin/env python3
"""Checks that each target declares the modules of this package that it imports, and that no folder of
Sources imports a later folder.

An event passes the folders in their order; see "Code map" in ARCHITECTURE.md.
"""
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The folders of Sources, in the order in which an event passes them. A folder may import itself and
# earlier ones.
ORDER = ["System", "Libraries", "Examples", "Events", "Ingest", "Recordings", "Features", "Screen",
         "Simulation", "Control", "Daemon", "livehostd", "livehostctl", "Connectors",
         "livehost-source", "Web", "livehost-web", "Gateway", "livehost-gateway"]
IMPORT = re.compile(
    r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|private|fileprivate)\s+)?"
    r"import\s+(?:struct\s+|enum\s+|class\s+|func\s+)?(\w+)", re.M)


def problems(targets):
    folder = {name: Path(target["path"]).parts[1] for name, target in targets.items()
              if Path(target["path"]).parts[0] == "Sources"}
    for name, target in sorted(targets.items()):
        declared = set(target.get("target_dependencies", []))
        for source in (ROOT / target["path"] / source for source in target.get("sources", [])):
            imported = set(IMPORT.findall(source.read_text())) if source.suffix == ".swift" else set()
            for module in imported & targets.keys() - declared - {name}:
                yield f"{source.relative_to(ROOT)}: imports {module}, which is not a declared dependency of {name}"
        for dependency in declared & folder.keys() if name in folder else ():
            here, there = folder[name], folder[dependency]
            if ORDER.index(there) > ORDER.index(here):
                yield f"{name} ({here}) depends on {dependency} ({there}), which comes later on the road"
            if here == there == "Features" and name not in ("HostFeature", "Throttling") and dependency != "Throttling":
                yield f"{name} depends on its sibling {dependency}; they communicate through HostFeature"


def main():
    description = subprocess.run(["swift", "package", "describe", "--type", "json"], cwd=ROOT, check=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    found = list(problems({target["name"]: target for target in json.loads(description)["targets"]}))
    print("\n".join(found), end="")
    return bool(found)


sys.exit(main())

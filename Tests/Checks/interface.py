#!/usr/bin/env python3
"""Compares the public interface of the library products with Tests/Checks/Interface.

    interface.py [--write] [--folder FOLDER] GRAPHS...

GRAPHS are what `swift symbolgraph-extract -minimum-access-level public` writes. Each module has a file,
MODULE.txt: one declaration per line, sorted; then, after `removed:`, those that are gone since the last
release. --write renews the files: new declarations are added, missing ones move to the end.

A declaration that is gone, or that has changed, breaks people's code. So CHANGELOG.md must name it (as
`Type.member(label:)`) for as long as it is in the list of those removed. Empty that list with a release.
Left out are members that only generated code calls (`_$...`).
"""
import argparse
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REMOVED = "removed:"
# Conformances that the compiler adds by itself.
IMPLIED = {"Copyable", "Escapable", "SendableMetatype", "BitwiseCopyable"}


def is_internal(path):
    return any(part.startswith("_") for part in path)


def declarations(files):
    """The module's name, and the lines of its interface."""
    lines, module, names, relationships = set(), None, {}, []
    for file in files:
        graph = json.loads(Path(file).read_text(encoding="utf-8"))
        module = graph["module"]["name"]
        relationships += graph["relationships"]
        for symbol in graph["symbols"]:
            path = symbol["pathComponents"]
            names[symbol["identifier"]["precise"]] = ".".join(path)
            # What the compiler makes by itself is not declared anywhere.
            if is_internal(path) or "::SYNTHESIZED::" in symbol["identifier"]["precise"]:
                continue
            text = "".join(part["spelling"] for part in symbol["declarationFragments"])
            constraints = symbol.get("swiftExtension", {}).get("constraints", [])
            if constraints:
                text += "  // " + ", ".join(sorted(
                    f"{c['lhs']} {({'conformance': ':', 'superclass': ':'}).get(c['kind'], '==')} "
                    f"{c['rhs']}" for c in constraints))
            lines.add(f"{'.'.join(path)}: {' '.join(text.split())}")
    for relation in relationships:
        name = names.get(relation["source"])
        if relation["kind"] == "conformsTo" and name and not is_internal(name.split(".")):
            target = names.get(relation["target"]) or relation.get("targetFallback", "?")
            target = target.removeprefix("Swift.").removeprefix("Composable.")
            if target not in IMPLIED:
                lines.add(f"{name}: conforms to {target}")
    return module, lines


def read(path):
    """The lines of a file: declared, removed."""
    if not path.exists():
        return set(), set()
    before, _, after = path.read_text(encoding="utf-8").partition(REMOVED + "\n")
    return set(before.splitlines()) - {""}, set(after.splitlines()) - {""}


def write(path, lines, removed):
    text = "".join(f"{line}\n" for line in sorted(lines))
    if removed:
        text += f"\n{REMOVED}\n" + "".join(f"{line}\n" for line in sorted(removed))
    path.write_text(text, encoding="utf-8")


def check(path, lines, changes):
    known, removed = read(path)
    problems = [f"+ {line}" for line in lines - known] + [f"- {line}" for line in known - lines]
    problems.sort(key=lambda line: line[2:])
    for line in problems:
        print(f"{path.name}: {line}")
    if problems:
        print("Is this meant? Tests/Checks/interface.sh BIN --write renews the list.")
    unexplained = sorted({name(line) for line in removed if f"`{name(line)}`" not in changes})
    for removed_name in unexplained:
        print(f"CHANGELOG.md does not name `{removed_name}`, which was removed or changed")
    return not problems and not unexplained


def name(line):
    """The name in front of a declaration, without the labels that name a test's line."""
    return line.split(": ")[0].replace("fileID:filePath:line:column:", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--folder", type=Path, default=ROOT / "Tests/Checks/Interface")
    parser.add_argument("--changes", type=Path, default=ROOT / "CHANGELOG.md")
    parser.add_argument("graphs", nargs="+", type=Path)
    arguments = parser.parse_args()
    modules = {}
    # The extensions of other modules are in files of their own: MODULE@OTHER.symbols.json.
    for graph in arguments.graphs:
        modules.setdefault(graph.name.split(".")[0].split("@")[0], []).append(graph)
    is_good = True
    for files in modules.values():
        module, lines = declarations(files)
        path = arguments.folder / f"{module}.txt"
        if arguments.write:
            known, removed = read(path)
            write(path, lines, (removed | known) - lines)
            continue
        is_good = check(path, lines, arguments.changes.read_text(encoding="utf-8")) and is_good
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())

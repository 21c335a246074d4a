#!/usr/bin/env python3
"""Lists public symbols without documentation: undocumented.py FILE.symbols.json ...

The files are what `swift symbolgraph-extract -minimum-access-level public` writes for a module. Left
out are members that generated code calls (`_$...`), what the compiler or a macro adds, and witnesses
of the standard library's protocols, which say there what they promise. Fails if anything is listed.
"""
import json
import sys

# Members that a protocol of the standard library asks for.
WITNESSES = {
    "==(_:_:)", "<(_:_:)", "hash(into:)", "hashValue", "encode(to:)", "init(from:)", "description",
    "debugDescription", "customMirror", "rawValue", "init(rawValue:)", "makeIterator()", "next()",
    "startIndex", "endIndex", "index(after:)", "index(before:)", "count", "isEmpty",
    "underestimatedCount", "subscript(_:)", "init()", "init(arrayLiteral:)", "id",
    "advanced(by:)", "duration(to:)", "now", "minimumResolution", "enqueue(_:)",
    "asUnownedSerialExecutor()", "asUnownedTaskExecutor()", "callAsFunction(_:)",
}


def undocumented(graph):
    conforming = {r["source"] for r in graph["relationships"] if r["kind"] == "conformsTo"}
    parents = {
        r["source"]: r["target"] for r in graph["relationships"] if r["kind"] == "memberOf"
    }
    for symbol in graph["symbols"]:
        path = symbol["pathComponents"]
        if "docComment" in symbol or any(part.startswith("_$") for part in path):
            continue
        # What is not written anywhere was made by the compiler.
        if "location" not in symbol or "swift-generated-sources" in symbol["location"]["uri"]:
            continue
        if path[-1] in WITNESSES and parents.get(symbol["identifier"]["precise"]) in conforming:
            continue
        yield symbol["location"]["uri"].removeprefix("file://"), (
            symbol["location"]["position"]["line"] + 1
        ), ".".join(path)


def main(files):
    found = set()
    for name in files:
        with open(name, encoding="utf-8") as file:
            found.update(undocumented(json.load(file)))
    for path, line, name in sorted(found):
        print(f"{path}:{line}: {name} is public and has no documentation")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Checks that every public symbol of the library products is documented and listed in Tests/Checks/Interface.

MODULE.txt lists the declarations of a module, one per line, sorted. After `removed:` it lists declarations that were
removed or changed since the last release. The option --write-interface updates the files: it adds new declarations,
and moves missing ones to the end. A removed or changed declaration breaks users' code, so CHANGELOG.md must name it
(as `Type.member(label:)`) while it is listed. Empty the lists of removed declarations with each release.
"""
import itertools
import json
import platform

from harness.places import ROOT

MODULES = ["Composable", "ComposableTesting", "HangCommand", "HangSimulation", "HangTesting"]
REMOVED = "removed:"
# Conformances that the compiler adds automatically.
IMPLIED = {"Copyable", "Escapable", "SendableMetatype", "BitwiseCopyable"}
# Requirements of protocols of the standard library, which documents them.
WITNESSES = {
    "==(_:_:)", "<(_:_:)", "hash(into:)", "hashValue", "encode(to:)", "init(from:)", "description",
    "debugDescription", "customMirror", "rawValue", "init(rawValue:)", "makeIterator()", "next()",
    "startIndex", "endIndex", "index(after:)", "index(before:)", "count", "isEmpty",
    "underestimatedCount", "subscript(_:)", "init()", "init(arrayLiteral:)", "id",
    "advanced(by:)", "duration(to:)", "now", "minimumResolution", "enqueue(_:)",
    "asUnownedSerialExecutor()", "asUnownedTaskExecutor()", "callAsFunction(_:)",
}


def undocumented(graph):
    """Yields public symbols without documentation. Omits members called by generated code (`_$...`), symbols added by
    the compiler or a macro, and witnesses of the standard library's protocols."""
    conforming = {relation["source"] for relation in graph["relationships"] if relation["kind"] == "conformsTo"}
    parents = {relation["source"]: relation["target"] for relation in graph["relationships"]
               if relation["kind"] == "memberOf"}
    for symbol in graph["symbols"]:
        path, uri = symbol["pathComponents"], symbol.get("location", {}).get("uri", "swift-generated-sources")
        is_witness = path[-1] in WITNESSES and parents.get(symbol["identifier"]["precise"]) in conforming
        if not ("docComment" in symbol or any(part.startswith("_$") for part in path) or is_witness
                or "swift-generated-sources" in uri):
            line = symbol["location"]["position"]["line"] + 1
            yield f"{uri.removeprefix('file://')}:{line}: {'.'.join(path)} is public and has no documentation"


def declarations(graphs):
    """Yields the lines of a module's interface, without members that only generated code calls."""
    symbols = [symbol for graph in graphs for symbol in graph["symbols"]]
    names = {symbol["identifier"]["precise"]: symbol["pathComponents"] for symbol in symbols}
    named = {identifier: ".".join(path) for identifier, path in names.items()}
    internal = {identifier for identifier, path in names.items() if any(part.startswith("_") for part in path)}
    for symbol in symbols:
        identifier = symbol["identifier"]["precise"]
        # Symbols synthesised by the compiler have no declaration.
        if identifier not in internal and "::SYNTHESIZED::" not in identifier:
            text = " ".join("".join(part["spelling"] for part in symbol["declarationFragments"]).split())
            constraints = ", ".join(sorted(
                f"{each['lhs']} {':' if each['kind'] in ('conformance', 'superclass') else '=='} {each['rhs']}"
                for each in symbol.get("swiftExtension", {}).get("constraints", [])))
            yield f"{named[identifier]}: {text}" + (f" // {constraints}" if constraints else "")
    for relation in itertools.chain.from_iterable(graph["relationships"] for graph in graphs):
        source = relation["source"]
        if relation["kind"] == "conformsTo" and source in names.keys() - internal:
            target = named.get(relation["target"]) or relation.get("targetFallback", "?")
            target = target.removeprefix("Swift.").removeprefix("Composable.")
            if target not in IMPLIED:
                yield f"{named[source]}: conforms to {target}"


def differences(path, lines, write):
    """Yields differences from the listed declarations, and removed ones that CHANGELOG.md does not name."""
    known, _, removed = path.read_text().partition(REMOVED + "\n") if path.exists() else ("", "", "")
    known, removed = set(known.splitlines()) - {""}, set(removed.splitlines()) - {""}
    if write:
        removed = (removed | known) - lines
        path.write_text("\n".join([*sorted(lines), *(["", REMOVED, *sorted(removed)] if removed else []), ""]))
        return
    for line in sorted(lines ^ known):
        yield f"{path.name}: {'+' if line in lines else '-'} {line} (if this is intended, update the list with --write-interface)"
    changes = (ROOT / "CHANGELOG.md").read_text()
    # Labels for the caller's source location are omitted.
    for name in sorted({line.split(": ")[0].replace("fileID:filePath:line:column:", "") for line in removed}):
        if f"`{name}`" not in changes:
            yield f"CHANGELOG.md does not name `{name}`, which was removed or changed"


def test_public_symbols_are_documented_and_listed(check, programs, tmp_path, pytestconfig):
    found = []
    for module in MODULES:
        check.runs(f"the interface of {module} can be read", [
            "swift", "symbolgraph-extract", "-module-name", module, "-I", programs / "Modules", "-output-dir", tmp_path,
            "-target", f"{platform.machine()}-unknown-linux-gnu", "-minimum-access-level", "public"])
        # Extensions of other modules are in separate files: MODULE@OTHER.symbols.json.
        graphs = {path.name: json.loads(path.read_text()) for path in tmp_path.glob(f"{module}[.@]*symbols.json")}
        bare = sorted(set(undocumented(graphs[f"{module}.symbols.json"])))
        check(f"{module} is documented", not bare, "\n".join(bare))
        found += differences(ROOT / f"Tests/Checks/Interface/{module}.txt", set(declarations(graphs.values())),
                             pytestconfig.getoption("write_interface"))
    check("the public interface equals its list, and CHANGELOG.md names removed declarations", not found,
          "\n".join(found))

"""The public interface of the library products: every public symbol is documented, and every public declaration is
listed in Tests/Checks/Interface.

Each module has a file, MODULE.txt: one declaration per line, sorted; then, after `removed:`, those that are gone since
the last release. The option --write-interface renews the files: new declarations are added, missing ones move to the
end. A declaration that is gone, or that has changed, breaks people's code. So CHANGELOG.md must name it (as
`Type.member(label:)`) for as long as it is in the list of those removed. Empty that list with a release.
"""
import itertools
import json
import platform

from harness.places import ROOT

MODULES = ["Composable", "ComposableTesting", "HangCommand", "HangSimulation", "HangTesting"]
REMOVED = "removed:"
# Conformances that the compiler adds by itself.
IMPLIED = {"Copyable", "Escapable", "SendableMetatype", "BitwiseCopyable"}
# Members that a protocol of the standard library asks for, which says there what they promise.
WITNESSES = {
    "==(_:_:)", "<(_:_:)", "hash(into:)", "hashValue", "encode(to:)", "init(from:)", "description",
    "debugDescription", "customMirror", "rawValue", "init(rawValue:)", "makeIterator()", "next()",
    "startIndex", "endIndex", "index(after:)", "index(before:)", "count", "isEmpty",
    "underestimatedCount", "subscript(_:)", "init()", "init(arrayLiteral:)", "id",
    "advanced(by:)", "duration(to:)", "now", "minimumResolution", "enqueue(_:)",
    "asUnownedSerialExecutor()", "asUnownedTaskExecutor()", "callAsFunction(_:)",
}


def undocumented(graph):
    """Public symbols without documentation. Left out are members that generated code calls (`_$...`), what the compiler
    or a macro adds, and witnesses of the standard library's protocols."""
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
    """The lines of a module's interface, without members that only generated code calls."""
    symbols = [symbol for graph in graphs for symbol in graph["symbols"]]
    names = {symbol["identifier"]["precise"]: symbol["pathComponents"] for symbol in symbols}
    named = {identifier: ".".join(path) for identifier, path in names.items()}
    internal = {identifier for identifier, path in names.items() if any(part.startswith("_") for part in path)}
    for symbol in symbols:
        identifier = symbol["identifier"]["precise"]
        # What the compiler makes by itself is not declared anywhere.
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
    """What is not as it is listed, and what CHANGELOG.md does not name."""
    known, _, removed = path.read_text().partition(REMOVED + "\n") if path.exists() else ("", "", "")
    known, removed = set(known.splitlines()) - {""}, set(removed.splitlines()) - {""}
    if write:
        removed = (removed | known) - lines
        path.write_text("\n".join([*sorted(lines), *(["", REMOVED, *sorted(removed)] if removed else []), ""]))
        return
    for line in sorted(lines ^ known):
        yield f"{path.name}: {'+' if line in lines else '-'} {line} (if it is meant, --write-interface renews the list)"
    changes = (ROOT / "CHANGELOG.md").read_text()
    # Without the labels that name a test's line.
    for name in sorted({line.split(": ")[0].replace("fileID:filePath:line:column:", "") for line in removed}):
        if f"`{name}`" not in changes:
            yield f"CHANGELOG.md does not name `{name}`, which was removed or changed"


def test_public_symbols_are_documented_and_listed(check, programs, tmp_path, pytestconfig):
    found = []
    for module in MODULES:
        check.runs(f"the interface of {module} can be read", [
            "swift", "symbolgraph-extract", "-module-name", module, "-I", programs / "Modules", "-output-dir", tmp_path,
            "-target", f"{platform.machine()}-unknown-linux-gnu", "-minimum-access-level", "public"])
        # The extensions of other modules are in files of their own: MODULE@OTHER.symbols.json.
        graphs = {path.name: json.loads(path.read_text()) for path in tmp_path.glob(f"{module}[.@]*symbols.json")}
        bare = sorted(set(undocumented(graphs[f"{module}.symbols.json"])))
        check(f"{module} is documented", not bare, "\n".join(bare))
        found += differences(ROOT / f"Tests/Checks/Interface/{module}.txt", set(declarations(graphs.values())),
                             pytestconfig.getoption("write_interface"))
    check("the public interface is as it is listed, and CHANGELOG.md names what is gone", not found, "\n".join(found))

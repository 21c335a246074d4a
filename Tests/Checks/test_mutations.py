"""Tests the scanner of Swift declarations, and the search for the text that a mutation changes."""

import pathlib

import placement
import swift_declarations

SOURCE = r'''
import Glibc

/* a comment /* in a comment */ with func hidden() {} */
public func global<Value>(_ value: Value, to other: [String: Int] = [:]) -> Value where Value: Equatable { value }

extension Outer.Inner: Sendable {
  @inlinable
  public static func == (left: Self, right: Self) -> Bool { left.a == right.a }

  private(set) var text = #"a " brace { and \#(call("}")) here"#
  let long = """
    func alsoHidden() { "quoted" \(value.map { "}" })
    """
  let first = 1, second: Int = 2
  var computed: Int {
    get { 1 }
    set { text = "\(newValue)" }
  }

  enum Kind {
    case plain, loaded(Int, to: String)
    indirect case nested(Kind)
    init?(_ raw: Int) { return nil }
  }

  class var shared: Int { 3 }
  subscript(_ index: Int) -> Int { index }
  func `switch`(at index: Int) async throws(Failure) -> Result<
    Int, Failure
  > {
    func local() {}
    return text
  }
  func fold(_ pair: Pair<Int, String>, by size: Int = 1 << 4) -> Int { size }
  deinit { free() }
}

protocol Watched {
  var state: Int { get }
  func watch(_ body: () -> Void)
  func stop()
}

#if os(Linux)
let last = [1, 2].map {
  $0 + 1
}
.filter { $0 > 1 }
#endif
'''

NAMES = [
    "global(_:to:)", "Outer.Inner.==(left:right:)", "Outer.Inner.text", "Outer.Inner.long", "Outer.Inner.first",
    "Outer.Inner.second", "Outer.Inner.computed", "Outer.Inner.Kind.plain", "Outer.Inner.Kind.loaded(_:to:)",
    "Outer.Inner.Kind.nested(_:)", "Outer.Inner.Kind.init(_:)", "Outer.Inner.shared", "Outer.Inner.subscript(_:)",
    "Outer.Inner.switch(at:)", "Outer.Inner.fold(_:by:)", "Outer.Inner.deinit", "Watched.state", "Watched.watch(_:)",
    "Watched.stop()", "last"]


def test_all_declarations_of_a_swift_file_are_found_by_name(check):
    found = swift_declarations.declarations(SOURCE)
    check.equal("every declaration is found under its name", [declaration.name for declaration in found], NAMES)
    texts = {declaration.name: SOURCE[declaration.start:declaration.end] for declaration in found}
    check.contains("a computed property includes its accessors", texts["Outer.Inner.computed"], "newValue")
    check.contains("a function includes its local functions", texts["Outer.Inner.switch(at:)"], "return text")
    check.contains("a property includes a method call on the next line", texts["last"], "filter")
    check.equal("a requirement ends with its line", texts["Watched.watch(_:)"], "func watch(_ body: () -> Void)")
    check.contains("attributes belong to a declaration", texts["Outer.Inner.==(left:right:)"], "@inlinable")


def placed(root, symbol, find, source):
    """Returns the text that is found in a work tree with one source, or the error."""
    path = root / "Sources/Libraries/Files/File.swift"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source)
    try:
        path, start, end = placement.Sources(root).place(symbol, find)
    except placement.Unfit as reason:
        return str(reason)
    return path.read_text()[start:end]


def test_mutations_are_placed_by_the_name_of_a_declaration(check, tmp_path: pathlib.Path):
    source = """
struct Writer {
  func close() throws {
    try write(1, to: file)
    try file.sync()
  }
  func close(_ file: File) { file.sync(); file.sync() }
}
"""
    wrapped = source.replace("(1, to: file)", "(\n          1,\n          to: file\n        )")

    found = placed(tmp_path, "Writer.close()", "write(1, to: file)", wrapped)
    check.equal("white space is not compared", "".join(found.split()), "write(1,to:file)")
    check.equal("whole words are found", placed(tmp_path, "Writer.close()", "sync()", source), "sync()")
    check.contains(
        "a part of a word is not found", placed(tmp_path, "Writer.close()", "ync()", source), "does not contain ync()")
    check.contains(
        "a name shared by overloads needs labels", placed(tmp_path, "Writer.close", "write", source), "2 declarations are called")
    check.contains(
        "a text that occurs twice is refused", placed(tmp_path, "Writer.close(_:)", "file.sync()", source), "2 times")
    renamed = placed(tmp_path, "Writer.finish", "try write", source)
    check.contains("a renamed declaration is suggested", renamed, "Writer.close()  Sources/Libraries/Files/File")
    changed = placed(tmp_path, "Writer.close()", "try writeAll(1, to: file)", source)
    check.contains("the line most similar to a changed text is shown", changed, "closest there: try write(1, to: file)")
    check.contains("the most similar line is shown with its place", changed, "Sources/Libraries/Files/File.swift:4")

import Yams

/// Where a text is no YAML, or names a key twice, and what to do about it.
struct YamlFault {
  /// From 1; nil if the text as a whole is meant.
  private(set) var line: Int?
  /// With those above it, `rooms.maximum`; nil if it is about no key.
  private(set) var key: String?
  let message: String

  private let lines: [Substring]

  init(_ error: YamlError, in text: String) {
    lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    switch error {
    case .scanner(let context, let problem, let mark, _),
      .parser(let context, let problem, let mark, _),
      .composer(let context, let problem, let mark, _):
      message = "\(problem); check the quotes, brackets and indentation there"
      // What is left open is noticed behind the last line only: then it is told where it began.
      let isBehind = mark.line > lines.count || mark.line == lines.count && lines.last == ""
      line = isBehind ? context?.mark.line ?? lines.count : mark.line
    case .reader(let problem, let offset, _, let yaml):
      message = "\(problem); write text in UTF-8, with other characters as \\uXXXX between quotes"
      line = offset.map { yaml.utf8.prefix($0).count { $0 == UInt8(ascii: "\n") } + 1 }
    case .duplicatedKeysInMapping(let names, let context):
      message = Configuration.twice
      guard let name = names.first else { return }
      line = second(name, first: context.mark)
      key = (parents(of: context.mark) + [name]).joined(separator: ".")
    case .no, .memory, .writer, .emitter, .representer, .dataCouldNotBeDecoded:
      message = "\(error); write YAML in UTF-8"
    }
  }

  /// The line in which a key stands for the second time: the next one in its column.
  private func second(_ name: String, first: Mark) -> Int {
    for (index, line) in lines.enumerated().dropFirst(first.line) {
      let rest = line.drop { $0 == " " }
      let indentation = line.count - rest.count
      if indentation == first.column - 1, rest.hasPrefix(name + ":") { return index + 1 }
    }
    return first.line
  }

  /// The keys above one: those that stand further left, from its own line upwards.
  private func parents(of mark: Mark) -> [String] {
    var parents: [String] = []
    var indentation = mark.column - 1
    for line in lines.prefix(mark.line).reversed() {
      let rest = line.drop { $0 == " " }
      guard line.count - rest.count < indentation, !rest.hasPrefix("#"), !rest.isEmpty else {
        continue
      }
      indentation = line.count - rest.count
      parents.insert(String(rest.prefix { $0 != ":" && $0 != " " }), at: 0)
    }
    return parents
  }
}

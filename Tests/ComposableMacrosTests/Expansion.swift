import ComposableMacros
import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros

/// The expansion of a source text and the reported messages.
struct Expansion {
  /// The source with all macros expanded.
  let text: String
  /// The messages, each with the titles of its fix-its.
  let messages: [String]
  /// The source after all fix-its were applied.
  let fixed: String

  private static let macros: [String: any Macro.Type] = [
    "ObservableState": ObservableStateMacro.self,
    "ObservationStateField": ObservationStateFieldMacro.self,
    "ObservationStateIgnored": ObservationStateIgnoredMacro.self,
    "CasePathable": CasePathableMacro.self,
    "Dependency": DependencyMacro.self,
    "Reducer": ReducerMacro.self,
  ]

  init(_ source: String) {
    let file = Parser.parse(source: source)
    let context = BasicMacroExpansionContext(
      sourceFiles: [file: .init(moduleName: "Example", fullFilePath: "Example.swift")])
    let expanded = file.expand(
      macros: Self.macros,
      contextGenerator: { BasicMacroExpansionContext(sharingWith: context, lexicalContext: [$0]) },
      indentationWidth: .spaces(2))
    text = Self.lines(expanded.description)
    messages = context.diagnostics.map { diagnostic in
      ([diagnostic.message] + diagnostic.fixIts.map { "fix: \($0.message.message)" })
        .joined(separator: "; ")
    }
    fixed = Self.lines(Self.apply(context.diagnostics.flatMap(\.fixIts), to: file, context))
  }

  /// Removes empty lines and trailing spaces.
  static func lines(_ text: String) -> String {
    text.split(separator: "\n").compactMap { line in
      let kept = line.reversed().drop { $0 == " " }.reversed()
      return kept.isEmpty ? nil : String(kept)
    }.joined(separator: "\n")
  }

  private static func apply(
    _ fixIts: [FixIt], to file: SourceFileSyntax, _ context: BasicMacroExpansionContext
  ) -> String {
    var bytes = Array(file.description.utf8)
    let edits = fixIts.flatMap(\.changes).compactMap { change -> (Range<Int>, [UInt8])? in
      guard case .replace(let old, let new) = change else { return nil }
      // Macros receive a copy of their declaration. The position is that of the declaration in the
      // source.
      let start = context.location(
        for: old.position, anchoredAt: old, fileName: "Example.swift"
      ).offset
      return (start..<start + old.totalLength.utf8Length, Array(new.description.utf8))
    }
    for (range, text) in edits.sorted(by: { $0.0.lowerBound > $1.0.lowerBound }) {
      bytes.replaceSubrange(range, with: text)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

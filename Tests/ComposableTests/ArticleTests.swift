import Foundation
import Testing

/// Checks that each snippet of an article is compiled: it must occur in the test file named after
/// the article.
struct ArticleTests {
  @Test(arguments: try articles().filter { try text(of: $0).contains("```swift") })
  func `every snippet of an article occurs in its test file`(article: String) throws {
    let tests = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "\(article)Tests.swift")
    let code = flattened(try String(contentsOf: tests, encoding: .utf8))
    let parts = try Self.text(of: article).components(separatedBy: "```")
    let snippets = stride(from: 1, to: parts.count, by: 2).map { parts[$0] }
      .filter { $0.hasPrefix("swift\n") }.map { flattened(String($0.dropFirst(6))) }
    #expect(!snippets.isEmpty)
    for snippet in snippets { #expect(code.contains(snippet), "only in the article: \(snippet)") }
  }

  /// Indented text is not compiled. Indented text is reserved for text that is not code, such as
  /// output.
  @Test func `no article has code outside its snippets`() throws {
    for article in try Self.articles() {
      let parts = try Self.text(of: article).components(separatedBy: "```")
      let prose = stride(from: 0, to: parts.count, by: 2).map { parts[$0] }
      for line in prose.flatMap({ $0.split(separator: "\n") }) where line.hasPrefix("    ") {
        let isCode = ["let ", "var ", "func ", "await ", "case .", "return ", "store.", "{ "]
          .contains { line.contains($0) }
        #expect(!isCode, "\(article): \(line)")
      }
      #expect(!prose.joined().contains("…"), "\(article) contains an ellipsis")
    }
  }

  @Test func `the checks of articles find the articles`() throws {
    #expect(try Self.articles().contains("GettingStarted"))
  }

  private static var folder: URL {
    URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Sources/Libraries/Composable/Composable.docc")
  }

  private static func articles() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.hasSuffix(".md") }.map { String($0.dropLast(3)) }.sorted()
  }

  private static func text(of article: String) throws -> String {
    try String(contentsOf: folder.appending(path: "\(article).md"), encoding: .utf8)
  }

  /// Removes indentation and empty lines.
  private func flattened(_ text: String) -> String {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { !$0.isEmpty }.joined(separator: "\n")
  }
}

import Composable
import ComposableTesting
import Foundation
import Testing

/// Checks that the examples in comments of the public interface are compiled: each must occur in
/// these tests. An ellipsis stands for omitted code.
struct CommentTests {
  @Test func `every example in a comment occurs in the tests`() throws {
    let tests = URL(filePath: #filePath).deletingLastPathComponent()
    let code = try Self.sources(in: tests).map { try Self.squeezed(Self.text(of: $0)) }
      .joined(separator: "\n")
    var count = 0
    for module in ["Composable", "ComposableTesting"] {
      let folder = tests.appending(path: "../../Sources/Libraries/\(module)")
      for source in try Self.sources(in: folder) {
        for example in Self.examples(try Self.text(of: source)) {
          count += 1
          #expect(Self.contains(code, example), "\(source.lastPathComponent): \(example)")
        }
      }
    }
    #expect(count > 50)
  }

  @Test func `an example in a comment that differs from the test is detected`() {
    #expect(Self.contains("Reduce{_,_in.none}.ifLet(\\.a)", "Reduce { … }.ifLet(\\.a)"))
    #expect(!Self.contains("Reduce{_,_in.none}.ifLet(\\.b)", "Reduce { … }.ifLet(\\.a)"))
  }

  @Test func `the examples in the documentation of test stores pass`() async {
    typealias Timer = CommentExamples.Timer
    typealias Counter = CommentExamples.Counter
    do {
      let clock = TestClock()
      let store = TestStore(initialState: Timer.State(), clock: clock) { Timer(clock: clock) }
      await store.send(.started)
      clock.advance(by: .seconds(1))
      await store.receive(.ticked) { $0.seconds = 1 }
      await store.skipInFlightEffects()
    }
    do {
      let store = TestStore(initialState: Counter.State()) { Counter() }
      await store.send(.factButtonTapped) { $0.isLoading = true }
      await store.receive(.factLoaded("3 is odd.")) {
        $0.isLoading = false
        $0.fact = "3 is odd."
      }
      await store.finish()
      store.assert { $0.count = 3 }
      await store.send(.request) { $0.isLoading = true }
      await store.receive(\.response.success) { $0.isLoading = false }
    }
    var state = Counter.State()
    state.rows.append(CommentExamples.Named.State(), id: 3)
    let store = TestStore(initialState: state) { Counter() }
    await store.send(\.rows[id: 3].renamed, "Ada") { $0.rows[id: 3]?.name = "Ada" }
    #expect(CommentExamples.recorder().start())
  }

  // MARK: Reading

  private static func sources(in folder: URL) throws -> [URL] {
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    return (files?.allObjects as? [URL] ?? []).filter { $0.pathExtension == "swift" }
  }

  private static func text(of file: URL) throws -> String {
    try String(contentsOf: file, encoding: .utf8)
  }

  /// Returns the indented parts of comments that follow an empty line, without lines that contain
  /// only an ellipsis.
  private static func examples(_ source: String) -> [String] {
    var parts: [[Substring]] = []
    var isCode = false
    var isBehindGap = false
    for line in source.split(separator: "\n", omittingEmptySubsequences: false) {
      let line = line.drop { $0 == " " }
      let isIndented = line.hasPrefix("///     ")
      if isIndented, !isCode, isBehindGap || parts.last?.isEmpty == false && isCode {
        parts.append([])
        isCode = true
      }
      if isIndented, isCode {
        if line == "///     …" {
          parts.append([])
        } else {
          parts[parts.count - 1].append(line.dropFirst(8))
        }
      } else if line != "///" {
        isCode = false
      }
      isBehindGap = line == "///"
    }
    return parts.map { $0.joined(separator: "\n") }.filter { !$0.isEmpty }
  }

  /// The maximum length of the code that an ellipsis can represent.
  private static let longestGap = 400

  /// Returns whether the example occurs in the code, with any code in place of its ellipses.
  private static func contains(_ code: String, _ example: String) -> Bool {
    let pieces = squeezed(example).split(separator: "…")
    guard let first = pieces.first else { return true }
    var rest = code[...]
    while let start = rest.range(of: first) {
      rest = rest[start.upperBound...]
      var end: Substring? = rest
      for piece in pieces.dropFirst() {
        guard let next = end else { break }
        end = next.prefix(longestGap + piece.count).range(of: piece).map { next[$0.upperBound...] }
      }
      if end != nil { return true }
    }
    return false
  }

  /// Removes white space and semicolons, which are not compared.
  private static func squeezed(_ text: String) -> String {
    text.filter { !$0.isWhitespace && $0 != ";" }
  }
}

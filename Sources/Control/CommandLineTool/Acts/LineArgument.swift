import ArgumentParser
import LiveEvents
import TerminalScreen

/// A line of text for a platform, such as a chat message or a title, as an argument; `-` means
/// standard input.
struct LineArgument: ExpressibleByArgument {
  /// The maximum number of bytes to read from standard input. Every valid line is shorter.
  private static let maximumBytes = 64 * 1024

  private let argument: String

  init(argument: String) { self.argument = argument }

  static var defaultCompletionKind: CompletionKind { .list([]) }

  /// Returns the text; waits for the end of standard input if the text comes from there. Throws
  /// ``Failure`` if the text is empty, too long, or more than a line.
  func text(_ context: Context) async throws -> String {
    guard argument == "-" else { return try Self.checked(argument) }
    let bytes = try await context.console.readInput(Self.maximumBytes)
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Failure(.badData, "standard input is not UTF-8")
    }
    // Most programs end their output with a line break, which is not part of the text.
    let end = text.lastIndex { !$0.isNewline }.map(text.index(after:)) ?? text.startIndex
    return try Self.checked(String(text[..<end]))
  }

  private static func checked(_ text: String) throws(Failure) -> String {
    guard text.contains(where: { !$0.isWhitespace }) else {
      throw Failure(.usage, "the text is empty")
    }
    guard !text.contains(where: \.isNewline) else {
      throw Failure(.usage, "the text has several lines; give one line")
    }
    guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
    else {
      throw Failure(.usage, "the text contains a control character, such as a tab; remove it")
    }
    let count = text.unicodeScalars.count
    guard count <= PlatformAct.textLength else {
      throw Failure(
        .usage,
        "the text has \(count) characters; shorten it to at most \(PlatformAct.textLength)")
    }
    return text
  }
}

import Foundation

#if canImport(ArgumentParser)
  package import ArgumentParser
#endif

/// Files that a report is written to besides standard output.
package struct ReportFiles: ParsableArguments {
  @Option(
    help: ArgumentHelp("Write the thresholds as JUnit XML, a test for each.", valueName: "file"),
    completion: .file())
  package var junit: String?
  @Option(
    help: ArgumentHelp("Write the report as Markdown.", valueName: "file"), completion: .file())
  package var markdown: String?

  package init() {}

  package var isEmpty: Bool { junit == nil && markdown == nil }

  package func write(_ outcome: CommandOutcome) throws {
    if let junit { try Self.write(outcome.junit, to: junit) }
    if let markdown { try Self.write(outcome.markdown, to: markdown) }
  }

  static func write(_ text: String, to path: String) throws {
    do { try Data(text.utf8).write(to: URL(fileURLWithPath: path)) } catch {
      throw FileProblem(description: "cannot write \(path): \(error.localizedDescription)")
    }
  }
}

/// A file that could not be written.
package struct FileProblem: Error, CustomStringConvertible {
  package let description: String
}

import Foundation

#if canImport(ArgumentParser)
  package import ArgumentParser
#endif

/// The files to which a report is written in addition to standard output.
package struct ReportFiles: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Write a JUnit XML file with one test for each threshold.", valueName: "file"),
    completion: .file())
  package var junit: String?
  @Option(
    help: ArgumentHelp(
      "Write the report as Markdown. If the file is $GITHUB_STEP_SUMMARY, append to it.",
      valueName: "file"),
    completion: .file())
  package var markdown: String?

  package init() {}

  package var isEmpty: Bool { junit == nil && markdown == nil }

  package func write(_ outcome: CommandOutcome) throws {
    if let junit { try Self.write(outcome.junit, to: junit) }
    if let markdown { try Self.write(outcome.markdown, to: markdown) }
  }

  /// Returns whether a file of these options, or of other options (`others`), is standard output
  /// (`-`). That file is then the only output.
  /// - Throws: `ValidationError` if several files are standard output, or if the report is JSON.
  package func replaceOutput(_ others: [String?] = [], json: Bool) throws -> Bool {
    let count = (others + [junit, markdown]).count { $0 == "-" }
    guard count < 2 else { throw ValidationError("only one file can be standard output ('-')") }
    guard count == 0 || !json else {
      throw ValidationError("with --json, no file can be standard output ('-')")
    }
    return count == 1
  }

  /// Writes a file (`-` is standard output), or appends to the summary of GitHub Actions.
  package static func write(_ text: String, to path: String) throws {
    let data = Data(text.utf8)
    do {
      if path == "-" {
        try FileHandle.standardOutput.write(contentsOf: data)
      } else if path == ProcessInfo.processInfo.environment["GITHUB_STEP_SUMMARY"],
        let file = FileHandle(forWritingAtPath: path)
      {
        defer { try? file.close() }
        _ = try file.seekToEnd()
        try file.write(contentsOf: data)
      } else {
        try data.write(to: URL(fileURLWithPath: path))
      }
    } catch {
      throw FileProblem(description: "cannot write \(path): \(error.localizedDescription)")
    }
  }
}

/// A file that cannot be written, or that has unexpected contents.
package struct FileProblem: Error, CustomStringConvertible {
  package let description: String
  /// Whether the file was read but has invalid contents.
  package var isBadData = false
}

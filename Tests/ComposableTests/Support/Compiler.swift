import Foundation
import Testing

/// The compiler with the modules and macros of the library.
struct Compiler {
  private let modules: URL
  private let macros: URL

  static var isThere: Bool { Compiler() != nil }

  init?() {
    let environment = ProcessInfo.processInfo.environment
    let products = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath()
      .deletingLastPathComponent()
    let bundle = Bundle.main.bundleURL.resolvingSymlinksInPath()
    let folders = [products, bundle, bundle.deletingLastPathComponent()]
    let files = FileManager.default
    guard
      let folder = folders.first(where: {
        files.fileExists(atPath: $0.appending(path: "Modules/Composable.swiftmodule").path)
      })
    else { return nil }
    modules = folder.appending(path: "Modules")
    macros =
      environment["MACRO_TOOL"].map { URL(filePath: $0) }
      ?? folder.appending(path: "ComposableMacros-tool")
    guard files.isExecutableFile(atPath: macros.path) else { return nil }
  }

  /// Returns the number of scopes that the type checker opened for a source, which must be valid.
  func steps(_ source: String) throws -> Int {
    try check(source) { status, _, folder in
      #expect(status == 0)
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      let statistics = try #require(names.first { $0.hasPrefix("stats-") && $0.contains("Source") })
      let data = try Data(contentsOf: folder.appending(path: statistics))
      let values = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
      return (values["Sema.NumConstraintScopes"] as? NSNumber)?.intValue ?? 0
    }
  }

  /// Returns the errors of the compiler for an invalid source.
  func errors(_ source: String) throws -> String {
    try check(source) { status, text, _ in
      #expect(status != 0)
      return text
    }
  }

  private func check<Result>(
    _ source: String, _ body: (_ status: Int32, _ text: String, _ folder: URL) throws -> Result
  ) throws -> Result {
    let folder = URL.temporaryDirectory.appending(path: "type-check-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "Source.swift")
    try source.write(to: file, atomically: true, encoding: .utf8)
    let log = folder.appending(path: "log")
    #expect(FileManager.default.createFile(atPath: log.path, contents: nil))
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
      "swiftc", "-typecheck", "-swift-version", "6", "-I", modules.path,
      "-load-plugin-executable", "\(macros.path)#ComposableMacros", "-stats-output-dir",
      folder.path, file.path,
    ]
    // The compiler leaves directories and caches, which are removed.
    process.environment = ProcessInfo.processInfo.environment
      .merging(["TMPDIR": folder.path, "HOME": folder.path]) { $1 }
    // The output goes to a file, because a pipe would fill up with many errors.
    process.standardError = try FileHandle(forWritingTo: log)
    try process.run()
    process.waitUntilExit()
    return try body(
      process.terminationStatus, try String(contentsOf: log, encoding: .utf8), folder)
  }
}

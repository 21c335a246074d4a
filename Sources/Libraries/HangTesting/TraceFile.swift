import Foundation
package import HangSimulation

/// The file of a test's trace.
package struct TraceFile {
  private let folder: URL
  private let name: String

  /// Creates the file in `folder`; if it is `nil`, in a folder that the package of the test
  /// ignores. `test` is the source file of the test.
  package init(_ plan: SimulationPlan, folder: String?, test: String) {
    let name = plan.name.map { $0.isLetter || $0.isNumber ? $0 : "-" }
    self.name = String(name) + "-\(plan.seed).trace.json"
    self.folder =
      folder.map { URL(fileURLWithPath: $0) }
      ?? Self.package(of: URL(fileURLWithPath: test))?.appending(path: ".build/hang-traces")
      ?? FileManager.default.temporaryDirectory.appending(path: "hang-traces")
  }

  /// Returns the nearest parent folder with a package manifest.
  private static func package(of file: URL) -> URL? {
    var folder = file.deletingLastPathComponent()
    while folder.path != "/" {
      let manifest = folder.appending(path: "Package.swift").path
      if FileManager.default.fileExists(atPath: manifest) { return folder }
      folder.deleteLastPathComponent()
    }
    return nil
  }

  package var path: String { folder.appending(path: name).path }

  /// Writes the trace. Returns a line with the path of the file, or with the error.
  func write(_ trace: String) -> String {
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try trace.write(toFile: path, atomically: true, encoding: .utf8)
      return "trace: \(path) (open it with Perfetto)"
    } catch {
      return "no trace: \(path) cannot be written: \(error.localizedDescription)"
    }
  }
}

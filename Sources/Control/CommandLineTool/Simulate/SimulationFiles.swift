import Glibc
import HangSimulation
import JSON
import Simulation

enum ScenarioText {
  static func read(_ path: String) throws(Failure) -> String {
    guard let bytes = ScenarioFiles.disk.read(path) else {
      throw Failure(
        .configuration, "\(path): cannot be read: \(TextFile.problem(path))",
        details: ["file": .string(path)])
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Failure(
        .configuration, "\(path): not valid UTF-8 text", details: ["file": .string(path)])
    }
    return text
  }
}

extension TextFile {
  /// Returns the reason why a file of a simulation could not be read.
  static func problem(_ path: String) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return String(cString: strerror(errno)) }
    defer { close(descriptor) }
    var status = stat()
    if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
      return String(cString: strerror(EISDIR))
    }
    return "it is not a regular file, or too large"
  }

  /// Writes a text to a file, replacing an existing file.
  static func write(_ text: String, to path: String) throws(Failure) {
    guard let file = fopen(path, "w") else { throw failure(path) }
    var text = text
    let isWritten = text.withUTF8 { fwrite($0.baseAddress, 1, $0.count, file) == $0.count }
    guard fclose(file) == 0, isWritten else { throw failure(path) }
  }

  private static func failure(_ path: String) -> Failure {
    Failure(.failed, "cannot write \(path): \(String(cString: strerror(errno)))")
  }
}

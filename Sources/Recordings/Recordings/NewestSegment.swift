import FileSystem
import JSON

/// Remembers, in a file beside the directory of the log, the newest segment of which something was synced: the log
/// itself cannot say what is missing at its end. Belongs to the writer's thread.
struct NewestSegment {
  /// 0 if there was none.
  private(set) var number = 0
  private let directory: StateDirectory
  private let name: String

  init(of log: String, on disk: any Disk) {
    directory = StateDirectory(Directories.parent(of: log), disk: disk)
    name = (log.split(separator: "/").last ?? "log") + ".json"
  }

  /// Takes what the last run wrote.
  mutating func read() {
    for version in StateDirectory.Version.allCases {
      guard let line = try? directory.read(name, version, limit: 1_024).line,
        let value = try? JSONValue(parsing: String(decoding: line, as: UTF8.self)),
        let newest = value["newest"]?.integerValue
      else { continue }
      number = max(number, Int(newest))
    }
  }

  /// Writes the number of a segment, if it is new. It may be missed if that fails.
  mutating func note(_ segment: Int) {
    guard segment > number else { return }
    number = segment
    try? directory.replace(name, with: Array("{\"newest\":\(segment)}".utf8))
    try? directory.sync()
  }
}

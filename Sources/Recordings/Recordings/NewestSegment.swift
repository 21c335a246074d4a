import FileSystem
import JSON

/// Remembers, in a file beside the directory of the log, which log it is and the newest segment of
/// which something was synced: the log itself cannot say what is missing at its end, or was put in
/// its place. Belongs to the writer's thread.
struct NewestSegment {
  /// 0 if there was none.
  private(set) var number = 0
  /// When the log began, in milliseconds since 1970, by which logs are told apart; 0 if it is not
  /// known.
  var startedAt = 0
  /// Whether it is of a log with log sequences: earlier versions did not write their version.
  private(set) var isCurrent = false
  /// Whether something of what the last run wrote is no longer what it wrote.
  private(set) var isSpoiled = false
  private static let version = 3
  private let directory: StateDirectory
  private let name: String

  init(of log: String, on disk: any Disk) {
    directory = StateDirectory(Directories.parent(of: log), disk: disk)
    name = (log.split(separator: "/").last ?? "log") + ".json"
  }

  /// Takes what the last run wrote.
  mutating func read() {
    for version in StateDirectory.Version.allCases {
      do throws(RecordingError) {
        let (line, isProven) = try directory.read(name, version, limit: 1_024)
        guard isProven, let value = try? JSONValue(parsing: String(decoding: line, as: UTF8.self)),
          let newest = value["newest"]?.integerValue.map({ Int($0) }),
          KeptNumbers.range.contains(newest),
          case let began = Int(value["startedAt"]?.integerValue ?? 0),
          KeptNumbers.range.contains(began)
        else {
          isSpoiled = true
          continue
        }
        number = max(number, newest)
        if value["version"]?.integerValue.map({ Int($0) }) == Self.version { isCurrent = true }
        if startedAt == 0 { startedAt = began }
      } catch {
        if case .rotten = error { isSpoiled = true }
      }
    }
  }

  /// Writes the number of a segment, if it is new. It may be missed if that fails.
  mutating func note(_ segment: Int) {
    guard segment > number else { return }
    number = segment
    try? write()
  }

  /// Writes what is known of another log than the one of which something is there.
  func replace(number: Int) throws(RecordingError) {
    _ = try directory.remove(name)
    try directory.sync()
    var other = self
    (other.number, other.startedAt) = (number, 0)
    try other.write()
  }

  private func write() throws(RecordingError) {
    let text = #"{"newest":\#(number),"startedAt":\#(startedAt),"version":\#(Self.version)}"#
    try directory.replace(name, with: Array(text.utf8))
    try directory.sync()
  }
}

import FileSystem
import JSON
import LiveEvents

/// The file beside the log that names the newest segment with synced lines, and identifies the log.
///
/// The log alone cannot reveal that its last segments are missing or were replaced. Belongs to the
/// writer's thread.
struct NewestSegment {
  /// The number of the newest segment; 0 if there is none.
  private(set) var number = 0
  /// When the log began, in milliseconds since 1970; 0 if unknown. It distinguishes logs.
  var startedAt = 0
  /// Whether the log has log sequences. Earlier versions did not write their version.
  private(set) var isCurrent = false
  /// Whether the file differs from what the last run wrote.
  private(set) var isSpoiled = false
  private static let version = 3
  private let directory: StateDirectory
  private let name: String

  init(of log: String, on disk: any Disk) {
    directory = StateDirectory(Directories.parent(of: log), disk: disk)
    name = (log.split(separator: "/").last ?? "log") + ".json"
  }

  /// Reads what the last run wrote.
  mutating func read() {
    for version in StateDirectory.Version.allCases {
      do throws(RecordingError) {
        let (line, isProven) = try directory.read(name, version, limit: 1_024)
        guard isProven, let value = try? JSONValue(parsing: String(decoding: line, as: UTF8.self)),
          let newest = value["newest"]?.integerValue.map({ Int($0) }),
          EventLimits.total.contains(newest),
          case let began = Int(value["startedAt"]?.integerValue ?? 0),
          EventLimits.total.contains(began)
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

  /// Writes the number of a segment if it is newer. A failure is ignored: it only means that a
  /// later loss of the segment goes unnoticed.
  mutating func advance(to segment: Int) {
    guard segment > number else { return }
    number = segment
    try? write()
  }

  /// Replaces the file by one for a new log.
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

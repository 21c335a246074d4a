import FileSystem
import SimulatedDisk

/// Tracks how many bytes of each segment the disk reported as synced, to decide which damage the
/// daemon must report. A witness parses only the `segmentSynced` marks.
struct Witness {
  private var claimed: [String: Int] = [:]
  /// The damaged files that the next start must report, with the offset of the damage.
  private var changes: [String: Int] = [:]
  /// The contents of the damaged snapshots.
  private var snapshots: [String: [UInt8]] = [:]
  private var before: [String: [UInt8]] = [:]

  /// Records that the disk reported a sync of a file with `bytes` bytes.
  mutating func noteSync(of path: String, bytes: Int) {
    if path.hasSuffix(".ndjson") { claimed[path] = bytes }
  }

  /// Records that a file was truncated to `bytes` bytes, so later bytes are no longer synced.
  mutating func noteCut(of path: String, bytes: Int) {
    if let known = claimed[path] { claimed[path] = min(known, bytes) }
  }

  var spoiled: [String] { changes.keys.sorted() }

  mutating func noteSpoiled(_ path: String, on disk: SimulatedDisk) {
    changes[path] = 0
    snapshots[path] = disk.contents(of: path)
  }

  /// Records the contents of the disk before a fault.
  mutating func begin(_ disk: SimulatedDisk) {
    for path in claimed.keys { before[path] = disk.contents(of: path) }
  }

  /// Compares the contents of the disk after a fault and updates the expected reports.
  mutating func end(_ disk: SimulatedDisk) {
    for (path, old) in before {
      let new = disk.contents(of: path) ?? []
      let safe = min(claimed[path] ?? 0, old.count)
      let known = changes[path]
      guard
        let change = known
          ?? zip(old[..<safe], new).enumerated().first(where: { $1.0 != $1.1 })?.offset
          ?? (new.count < safe ? new.count : nil)
      else { continue }
      // A mark that is not yet synced may be lost later.
      let isShown =
        change < new.count && Self.hasMark(new[change...])
        || Self.next(path).flatMap(disk.contents(of:)).map { Self.follows($0) } == true
      changes[path] = isShown && !Self.isWrittenAgain(path, old, change) ? change : nil
    }
    before = [:]
    // A power failure may undo the rename that gave a damaged snapshot its name.
    for (path, spoiled) in snapshots
    where !Self.names(of: path).contains(where: {
      disk.contents(of: $0) == spoiled
    }) {
      (changes[path], snapshots[path]) = (nil, nil)
    }
  }

  mutating func forget() { (changes, snapshots) = ([:], [:]) }

  /// Returns the possible names of a snapshot. A power failure may undo its rename.
  private static func names(of snapshot: String) -> Set<String> {
    [snapshot, snapshot.replacing(".previous", with: "")]
  }

  /// Whether a mark follows the first line of `bytes`. All lines of a segment before a mark were
  /// synced before the mark was written.
  private static func hasMark(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.split(separator: 10).dropFirst().contains { $0.starts(with: mark) }
  }

  /// Whether the first line of a segment names the end of the previous segment and is synced. The
  /// name is missing if the previous segment could not be completed.
  private static func follows(_ bytes: [UInt8]) -> Bool {
    let first = String(decoding: bytes.prefix { $0 != 10 }, as: UTF8.self)
    return first.contains("\"previous\"") && hasMark(bytes[...])
  }

  /// Returns the path of the segment after `path`.
  private static func next(_ path: String) -> String? {
    let name = path.dropLast(".ndjson".count)
    guard let number = Int(name.suffix(6)) else { return nil }
    let digits = String(number + 1)
    return name.dropLast(digits.count) + digits + ".ndjson"
  }

  /// Whether only the last line of a segment of the log has changed. The next start rewrites that
  /// line.
  private static func isWrittenAgain(_ path: String, _ old: [UInt8], _ change: Int) -> Bool {
    guard path.contains("/log/"), let end = old.dropLast().lastIndex(of: 10) else { return false }
    return change > end && old[(end + 1)...].starts(with: Array(#"{"type":"segmentEnd","#.utf8))
  }

  private static let mark = Array(#"{"type":"segmentSynced","#.utf8)

  /// Whether any line of the journal reports damage of a file.
  static func isTold(_ path: String, in journal: [String]) -> Bool {
    let names = path.split(separator: "/").map(String.init)
    return journal.contains { line in
      switch names[1] {
      case "log": line.contains("the write-ahead log is damaged")
      case "rooms":
        Self.names(of: path).contains { line.contains("the snapshot \($0) cannot be used") }
      default:
        line.contains(names[2]) && !line.contains("continues") && !line.contains("cutting off")
      }
    }
  }
}

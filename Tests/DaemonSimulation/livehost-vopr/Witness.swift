import FileSystem
import SimulatedDisk

/// Knows how much of each segment the disk has claimed to be safe, and so when the daemon has to notice that it is
/// not. It reads no line but marks.
struct Witness {
  private var claimed: [String: Int] = [:]
  /// Where files were spoiled that have to be told about at the next start.
  private var changes: [String: Int] = [:]
  /// What was in the spoiled snapshots among them.
  private var snapshots: [String: [UInt8]] = [:]
  private var before: [String: [UInt8]] = [:]

  /// The disk has reported a sync of a file that has so many bytes.
  mutating func noteSync(of path: String, bytes: Int) {
    if path.hasSuffix(".ndjson") { claimed[path] = bytes }
  }

  /// Nothing is claimed of what is behind these bytes any more.
  mutating func noteCut(of path: String, bytes: Int) {
    if let known = claimed[path] { claimed[path] = min(known, bytes) }
  }

  var spoiled: [String] { changes.keys.sorted() }

  mutating func noteSpoiled(_ path: String, on disk: SimulatedDisk) {
    changes[path] = 0
    snapshots[path] = disk.contents(of: path)
  }

  /// Something is about to happen to the disk.
  mutating func begin(_ disk: SimulatedDisk) {
    for path in claimed.keys { before[path] = disk.contents(of: path) }
  }

  /// It has happened.
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
      // A mark that is not synced itself may be lost later.
      let isShown =
        change < new.count && Self.hasMark(new[change...])
        || Self.next(path).flatMap(disk.contents(of:)).map { Self.follows($0) } == true
      changes[path] = isShown && !Self.isWrittenAgain(path, old, change) ? change : nil
    }
    before = [:]
    // A power failure may undo the rename that gave a spoiled snapshot its name.
    for (path, spoiled) in snapshots
    where !Self.names(of: path).contains(where: {
      disk.contents(of: $0) == spoiled
    }) {
      (changes[path], snapshots[path]) = (nil, nil)
    }
  }

  mutating func forget() { (changes, snapshots) = ([:], [:]) }

  /// A power failure may give a snapshot back the name that it had before.
  private static func names(of snapshot: String) -> Set<String> {
    [snapshot, snapshot.replacing(".previous", with: "")]
  }

  /// Whether there is a mark behind the line with which `bytes` begin: the lines of a segment before a mark were
  /// synced when it was written.
  private static func hasMark(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.split(separator: 10).dropFirst().contains { $0.starts(with: mark) }
  }

  /// Whether the first line of a segment names the end of the one before it, and is synced itself: it does not if that
  /// could not be written to its end.
  private static func follows(_ bytes: [UInt8]) -> Bool {
    let first = String(decoding: bytes.prefix { $0 != 10 }, as: UTF8.self)
    return first.contains("\"previous\"") && hasMark(bytes[...])
  }

  /// The segment behind another one.
  private static func next(_ path: String) -> String? {
    let name = path.dropLast(".ndjson".count)
    guard let number = Int(name.suffix(6)) else { return nil }
    let digits = String(number + 1)
    return name.dropLast(digits.count) + digits + ".ndjson"
  }

  /// Whether only the last line of a segment of the log has changed, which the next start writes again as it was.
  private static func isWrittenAgain(_ path: String, _ old: [UInt8], _ change: Int) -> Bool {
    guard path.contains("/log/"), let end = old.dropLast().lastIndex(of: 10) else { return false }
    return change > end && old[(end + 1)...].starts(with: Array(#"{"type":"segmentEnd","#.utf8))
  }

  private static let mark = Array(#"{"type":"segmentSynced","#.utf8)

  /// Whether lines of the journal tell about a file.
  static func isTold(_ path: String, in journal: [String]) -> Bool {
    let names = path.split(separator: "/").map(String.init)
    return journal.contains { line in
      switch names[1] {
      case "log": line.contains("the log of the rooms is damaged")
      case "rooms":
        Self.names(of: path).contains { line.contains("the kept state in \($0) cannot be used") }
      default:
        line.contains(names[2]) && !line.contains("continues") && !line.contains("cutting off")
      }
    }
  }
}

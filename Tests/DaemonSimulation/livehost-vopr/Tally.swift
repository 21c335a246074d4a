import SimulatedDisk

/// Counts how often each event occurred in many simulations. An event that never occurs is not
/// tested.
struct Tally {
  private var counts: [String: Int] = [:]

  /// Creates a zero count for every event that must occur in a run over all seeds.
  init() {
    for name in Plan.Kind.names { counts["operation: \(name)"] = 0 }
    for end in Plan.End.allCases { counts["end: \(end.rawValue)"] = 0 }
    for event in DiskEvent.allCases { counts["disk: \(event.rawValue)"] = 0 }
    for path in Path.allCases { counts["path: \(path.rawValue)"] = 0 }
    for invariant in Model.Invariant.allCases { counts["invariant: \(invariant.rawValue)"] = 0 }
  }

  mutating func add(_ simulation: Simulation) {
    func add(_ kind: String, _ name: String, _ count: Int) {
      counts["\(kind): \(name)", default: 0] += count
    }
    for (event, count) in simulation.disk.counts { add("disk", event.rawValue, count) }
    add("disk", DiskEvent.never.rawValue, simulation.hangs)
    for (name, count) in simulation.operations { add("operation", name, count) }
    for (end, count) in simulation.ends { add("end", end.rawValue, count) }
    for (path, count) in simulation.paths { add("path", path.rawValue, count) }
    for (invariant, count) in simulation.model.checks {
      add("invariant", invariant.rawValue, count)
    }
  }

  /// Prints one line for each count. `Tests/test_vopr.py` adds up the lines of several processes.
  func print() {
    for (name, count) in counts.sorted(by: { $0.key < $1.key }) {
      Swift.print("counted \(count) \(name)")
    }
  }
}

/// A path of recovery, as it can be observed from outside the daemon.
enum Path: String, CaseIterable {
  case completedRecording = "a recording's end is completed from the log"
  case damagedRecording = "a recording is found to be damaged"
  case continued = "a recording continues after a restart"
  case failedRecording = "a recording fails"
  case removedSegment = "a segment without steps is removed"
  case tornLog = "the torn end of the log is cut off"
  case damagedLog = "the log is found to be damaged"
  case gapInLog = "the log has a gap after the saved state of a room"
  case failedLog = "rooms are saved as snapshots because the log cannot be written"
  case cutLog = "a part of the log that no room needs is removed"
  case unfinishedSnapshot = "an unfinished snapshot is removed"
  case missingSnapshot =
    "only the previous snapshot exists because the process ended between two renames"
  case spoiledSnapshot = "a snapshot cannot be read"
  case previousSnapshot = "a room is restored from its previous snapshot"
  case spareSnapshot = "a damaged snapshot has no data that is not stored elsewhere"
  case failedSnapshot = "a snapshot cannot be written"
  case crashedRecovery = "a crash interrupts a recovery"
  case rotation = "a full segment is followed by a new segment"
  case hibernated = "an idle room hibernates"
  case woken = "a hibernated room is restored"

  /// The text of the journal entry that reports this path, or nil if there is none.
  private var words: String? {
    switch self {
    case .damagedRecording: "has been altered or is incomplete"
    case .continued: "continues in a new segment"
    case .failedRecording: "recording of room"
    case .damagedLog: "the write-ahead log is damaged"
    case .gapInLog: "the log does not continue its state"
    case .failedLog: "so rooms are saved as snapshots"
    case .spoiledSnapshot: "cannot be used and was renamed"
    case .previousSnapshot: "is restored from its previous snapshot"
    case .failedSnapshot: "cannot be saved for the next start"
    case .hibernated: "hibernates"
    case .woken: "is restored from hibernation"
    case .tornLog: "the write-ahead log: cutting off"
    case .completedRecording, .removedSegment, .cutLog, .spareSnapshot, .unfinishedSnapshot,
      .missingSnapshot, .crashedRecovery, .rotation:
      nil
    }
  }

  /// Whether synced data on the disk has changed.
  var isDamage: Bool { [.damagedRecording, .damagedLog, .spoiledSnapshot].contains(self) }

  /// Returns the paths that a line of the journal reports.
  static func told(by line: String) -> [Path] {
    allCases.filter { $0.words.map(line.contains) ?? false }
  }
}

import SimulatedDisk

/// How often things happened over many simulations. What has never happened proves nothing.
struct Tally {
  private var counts: [String: Int] = [:]

  /// Everything that is to happen in a run over all seeds.
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

  /// One line for each thing, for people and for adding up those of several processes.
  func print() {
    for (name, count) in counts.sorted(by: { $0.key < $1.key }) {
      Swift.print("counted \(count) \(name)")
    }
  }
}

/// A way in which the daemon recovers from something, as it can be seen from outside.
enum Path: String, CaseIterable {
  case completedRecording = "a recording gets its end from the log"
  case damagedRecording = "a recording is found to be damaged"
  case continued = "a recording goes on after a restart"
  case failedRecording = "a recording fails"
  case removedSegment = "a segment without steps is removed"
  case tornLog = "the torn end of the log is cut off"
  case damagedLog = "the log is found to be damaged"
  case gapInLog = "the log does not lead on from the state of a room"
  case failedLog = "rooms are saved as a whole, as the log cannot be written"
  case cutLog = "what no room needs is cut from the log"
  case unfinishedSnapshot = "a snapshot that was not finished is removed"
  case missingSnapshot =
    "there is only the previous snapshot, as the process ended between two renames"
  case spoiledSnapshot = "a snapshot cannot be read"
  case previousSnapshot = "a room comes back from its previous snapshot"
  case spareSnapshot = "a snapshot rots in which there is nothing that is not elsewhere"
  case failedSnapshot = "a snapshot cannot be written"
  case crashedRecovery = "a recovery is cut short by a crash"
  case rotation = "a segment is full"
  case packed = "an idle room is packed"
  case unpacked = "a packed room is wanted again"

  /// Words by which the journal shows it.
  private var words: String? {
    switch self {
    case .damagedRecording: "differs from what was written"
    case .continued: "continues in a new segment"
    case .failedRecording: "recording of room"
    case .damagedLog: "the log of the rooms is damaged"
    case .gapInLog: "the log does not lead on"
    case .failedLog: "rooms are saved as a whole"
    case .spoiledSnapshot: "cannot be used and was renamed"
    case .previousSnapshot: "comes back in the state that was saved before that"
    case .failedSnapshot: "is not kept for the next start"
    case .packed: "is packed"
    case .unpacked: "is unpacked"
    case .tornLog: "the log of the rooms: cutting off"
    case .completedRecording, .removedSegment, .cutLog, .spareSnapshot, .unfinishedSnapshot,
      .missingSnapshot, .crashedRecovery, .rotation:
      nil
    }
  }

  /// Whether something that was safely on the disk is not as it was.
  var isDamage: Bool { [.damagedRecording, .damagedLog, .spoiledSnapshot].contains(self) }

  /// What a line of the journal tells.
  static func told(by line: String) -> [Path] {
    allCases.filter { $0.words.map(line.contains) ?? false }
  }
}

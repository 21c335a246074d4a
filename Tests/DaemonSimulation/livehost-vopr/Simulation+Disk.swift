import CSimulatedMachine
import FileSystem
import Foundation
import Platform
import SimulatedDisk
import TestSupport

/// Calls that report success and do nothing, though nobody knows: a bug that is planted without building anything.
struct Omission {
  let calls: Plan.Calls
  /// A part of the paths that are meant.
  let path: String

  func contains(_ call: DiskCall) -> Bool { calls.contains(call) && call.path.contains(path) }
}

extension Simulation {
  /// Decides from now on what befalls the calls of the daemon, and watches them.
  func decide() {
    disk.decide { [self] call in
      guard isAlive else { return nil }
      let fault = omitted?.contains(call) == true ? .lie : fault(of: call)
      if fault != nil || machine_is_thread() {
        trace.add(
          "disk: \(call.operation.name) \(call.path) \(call.bytes)\(fault.map { ", \($0)" } ?? "")")
      }
      switch fault {
      case .powerLoss?, .processEnd?:
        isAlive = false
        if fault == .powerLoss { willLosePower() }
        return fault
      case .error?:
        (hasFailed, hasEverFailed) = (true, true)
        if let recording = Self.recording(call.path) {
          failedRecordings.insert(recording)
          model.recordings[recording]?.until = [:]
        }
        return fault
      case .short?, .slow?, .never?, .lie?, nil: break
      }
      // Others run while the disk works.
      if machine_is_thread() { wait(for: call, fault) }
      note(call)
      return fault == .never ? nil : fault
    }
  }

  /// The recording to which a file belongs.
  private static func recording(_ path: String) -> String? {
    let names = path.split(separator: "/")
    return names.count > 2 && names[1] == "recordings" ? String(names[2]) : nil
  }

  private func wait(for call: DiskCall, _ fault: DiskFault?) {
    if fault == .never {
      hangs += 1
      // An orderly stop waits for the disk.
      isHanging = isServing
      while isHanging, isAlive { machine_pause(20_000_000) }
    } else if call.operation == .sync || call.operation == .syncDirectory {
      machine_pause(UInt64(random.pick(50_000..<3_000_000)))
    } else if random.oneIn(6) {
      machine_pause(UInt64(random.pick(1_000..<20_000)))
    }
  }

  private func fault(of call: DiskCall) -> DiskFault? {
    if let crash = crashOfStart {
      crashOfStart?.call -= 1
      if crash.call <= 1 {
        crashOfStart = nil
        count(.crashedRecovery)
        return crash.fault
      }
    }
    guard let index = faults.firstIndex(where: { $0.calls.contains(call) }) else { return nil }
    guard faults[index].left == 0 else {
      faults[index].left -= 1
      return nil
    }
    let fault = faults[index].fault
    if machine.now >= faults[index].until { faults.remove(at: index) }
    if fault == .lie { hasLied = true }
    return fault
  }

  /// Sees what a call is good for that is about to succeed.
  private func note(_ call: DiskCall) {
    let isSegment = call.path.hasSuffix(".ndjson")
    let isLog = call.path.contains("/log/")
    switch call.operation {
    case .sync:
      witness.noteSync(of: call.path, bytes: disk.contents(of: call.path)?.count ?? 0)
    case .create:
      witness.noteCut(of: call.path, bytes: 0)
      if isSegment, isServing, !call.path.hasSuffix("000001.ndjson") { count(.rotation) }
    case .truncate:
      if isSegment, !isLog, !isServing,
        disk.contents(of: call.path).map({ call.bytes < $0.count }) == true
      {
        count(.completedRecording)
      }
      witness.noteCut(of: call.path, bytes: call.bytes)
    case .remove:
      guard disk.contents(of: call.path) != nil else { return }
      witness.noteCut(of: call.path, bytes: 0)
      if isSegment, isLog, isServing { count(.cutLog) }
      if isSegment, !isServing { count(.removedSegment) }
      if call.path.hasSuffix(".new"), !isServing { count(.unfinishedSnapshot) }
    default: break
    }
  }

  // MARK: What the disk should have kept

  func willLosePower() {
    isLosing = true
    witness.begin(disk)
  }

  /// The power has failed, if it has.
  func noteLoss() {
    guard isLosing else { return }
    isLosing = false
    witness.end(disk)
    guard hasLied else { return }
    hasLied = false
    model.spoil(rooms)
  }

  /// Changes single bits of what is on the disk while the daemon does not run, or loses whole lines.
  ///
  /// - Parameter rot: where; `nil` for any file.
  func spoil(_ bits: Int, at rot: Plan.Rot? = nil) {
    var changed: [(path: String, lost: [UInt8])] = []
    var places: Set<String> = []
    // Where nothing else goes wrong, one bit proves more: what is lost with it alone is told exactly.
    for _ in 0..<(plan.misfortunes.contains(.alone) ? min(bits, 1) : bits) {
      guard let spot = rot.flatMap({ spot(of: $0) }) ?? weakSpot() ?? anySpot() else { continue }
      let (path, offset) = (spot.path, random.pick(spot.bytes))
      // A second change might undo the first.
      guard let contents = disk.contents(of: path), places.insert("\(path):\(offset)").inserted
      else { continue }
      let line = contents[..<offset].lastIndex(of: 10).map { $0 + 1 } ?? 0
      changed.append((path, contents[line...] + behind(path)))
      witness.begin(disk)
      if spot.isCut, line > 0 {
        trace.add("\(path) ends at byte \(line) of \(contents.count)")
        disk.cut(path, at: line)
      } else {
        trace.add("\(path) changes at byte \(offset) of \(contents.count)")
        disk.rot(path, at: offset, bits: 1 << UInt8(random.pick(0..<8)))
      }
      witness.end(disk)
    }
    spoiledFiles.formUnion(changed.map(\.path))
    for (path, lost) in changed { spoiled(path, lost) }
  }

  /// Bytes of a file.
  private struct Spot {
    var path: String
    var bytes: Range<Int>
    /// Whether the line there is lost, and all behind it, in place of a bit.
    var isCut = false
  }

  /// Bytes anywhere: in files of each kind as often, however many there are.
  private func anySpot() -> Spot? {
    let kinds = Dictionary(grouping: files(in: SimulatedDaemon.directory)) {
      String($0.split(separator: "/")[1].prefix { $0 != "." })
    }.sorted { $0.key < $1.key }
    return kinds.randomElement(using: &random).flatMap { spot(in: $0.value) { 0..<$0.count } }
  }

  /// Bytes on which more depends than on most: the newest snapshot of a room, above all behind a recording; the first
  /// line of a segment, above all its checksum; the last batch of one that others follow; and the
  /// newest segments, which are still written. `nil` once in seven times.
  private func weakSpot() -> Spot? {
    let all = files(in: SimulatedDaemon.directory)
    let segments = all.filter { $0.hasSuffix(".ndjson") }
    let snapshots = all.filter { $0.contains("/rooms/") && $0.hasSuffix(".json") }
    let kind = random.pick(0..<7)
    switch kind {
    case 0: return spot(in: snapshots) { 0..<$0.count }
    case 1:
      let rooms = model.endings.keys
      let isBehind = { (path: String) in rooms.contains { path.hasSuffix("/\($0).json") } }
      return spot(in: snapshots.filter(isBehind)) { 0..<$0.count }
    case 2, 3:
      return spot(in: segments) { bytes in
        let end = bytes.firstIndex(of: 10) ?? bytes.count
        return (kind == 2 ? 0 : max(0, end - Self.checksum))..<end
      }
    case 4:
      var spot = lastLines(of: segments)
      spot?.isCut = random.oneIn(2)
      return spot
    case 5: return spot(in: segments.filter { behind($0).isEmpty }) { 0..<$0.count }
    default: return nil
    }
  }

  private func spot(of rot: Plan.Rot) -> Spot? {
    switch rot {
    case .newestSnapshot(let room):
      return spot(in: ["\(SimulatedDaemon.directory)/rooms/\(rooms[room]).json"]) { 0..<$0.count }
    case .endOfLog:
      var spot = lastLines(of: files(in: SimulatedDaemon.directory + "/log"))
      spot?.isCut = true
      return spot
    }
  }

  /// The last batch of a segment that others follow.
  private func lastLines(of segments: [String]) -> Spot? {
    spot(in: segments.filter { !behind($0).isEmpty }) { bytes in
      let lines = bytes.indices.filter { bytes[$0] == 10 }
      return (lines.suffix(Self.lastLines).first ?? 0)..<bytes.count
    }
  }

  /// About as many lines as a batch has.
  private static let lastLines = 16
  /// About as many bytes as the number and the checksum of a line have.
  private static let checksum = 24

  private func spot(in paths: [String], _ bytes: ([UInt8]) -> Range<Int>) -> Spot? {
    guard let path = paths.randomElement(using: &random), let contents = disk.contents(of: path),
      !contents.isEmpty
    else { return nil }
    let range = bytes(contents)
    return range.isEmpty ? nil : Spot(path: path, bytes: range)
  }

  /// What is in the segments behind one.
  private func behind(_ path: String) -> [UInt8] {
    guard path.hasSuffix(".ndjson"), let slash = path.lastIndex(of: "/") else { return [] }
    return files(in: String(path[..<slash])).filter { $0 > path }
      .reduce([]) { $0 + (disk.contents(of: $1) ?? []) }
  }

  /// What was in a file may be gone from some line on.
  private func spoiled(_ path: String, _ lost: [UInt8]) {
    let names = path.split(separator: "/").map(String.init)
    switch names[1] {
    case "log":
      for room in rooms { spoil(room, lost, in: nil) }
    case "recordings":
      for room in rooms where names[2].hasPrefix(room) { spoil(room, lost, in: names[2]) }
    // Says which segment is the newest: nothing of a room is in it.
    case _ where names.count == 2: return
    default:
      let newest = path.hasSuffix(".previous") ? String(path.dropLast(9)) : path
      // The older one is not needed while there is the newest.
      guard newest.hasSuffix(".json"), newest == path || disk.contents(of: newest) == nil else {
        return
      }
      for room in rooms where names[2].hasPrefix(room) {
        if newest == path, isSpare(path, of: room) {
          count(.spareSnapshot)
        } else {
          model.spoil([room])
        }
      }
      witness.noteSpoiled(path, on: disk)
    }
  }

  private func spoil(_ room: String, _ lost: [UInt8], in recording: String?) {
    let recordings = files(in: SimulatedDaemon.directory + "/recordings")
    model.spoil(
      room, Model.Loss(of: room, lost), in: recording,
      isRecorded: recordings.contains { $0.contains("/recordings/\(room)-") })
  }

  /// Whether what is in the newest snapshot of a room is also in the one before it, the recordings and the log. It is
  /// not if something could not be written, or a recording was played.
  private func isSpare(_ path: String, of room: String) -> Bool {
    !hasEverFailed && model.rooms[room]?.copies.isEmpty != false
      && spoiledFiles.allSatisfy { $0 == path || $0.hasPrefix(SimulatedDaemon.directory + "/log.") }
  }

  /// For people: writes what is on the disk to ``dump``.
  func copyDisk() {
    guard let dump else { return }
    for path in files(in: SimulatedDaemon.directory) {
      let copy = URL(fileURLWithPath: "\(dump)/start-\(life)\(path)")
      try? FileManager.default.createDirectory(
        at: copy.deletingLastPathComponent(), withIntermediateDirectories: true)
      try? Data(disk.contents(of: path) ?? []).write(to: copy)
    }
  }

  private func files(in directory: String) -> [String] {
    let names = (try? disk.names(in: directory)) ?? []
    return names.flatMap { name in
      let path = directory + "/" + name
      return disk.contents(of: path) == nil ? files(in: path) : [path]
    }
  }
}

extension Model.Loss {
  /// What is lost of a room with some lines of segments.
  fileprivate init(of room: String, _ lines: [UInt8]) {
    for line in lines.split(separator: 10) {
      let text = String(decoding: line, as: UTF8.self)
      if text.contains("\"room\":\"\(room)\"") {
        hasOpening = hasOpening || text.contains("\"opened\"")
        hasClosing = hasClosing || text.contains("\"closed\"")
      }
      if text.contains("\"control\":\"\(room)\"") { hasActs = true }
      guard let id = text.range(of: "\"id\":\"\(room)/") else { continue }
      let parts = text[id.upperBound...].prefix { $0 != "\"" }.split(separator: "/")
      guard parts.count == 2, let number = Int(parts[1]) else { continue }
      messages[String(parts[0])] = min(messages[String(parts[0])] ?? number, number)
    }
  }
}

extension Plan.Calls {
  func contains(_ call: DiskCall) -> Bool {
    switch self {
    case .all: true
    case .writes: call.operation == .write
    case .reads: call.operation == .read
    case .syncs: call.operation == .sync
    case .directorySyncs: call.operation == .syncDirectory
    case .renames: call.operation == .rename
    case .opens: call.operation == .open || call.operation == .create
    }
  }
}

import CSimulatedMachine
import FileSystem
import Foundation
import SimulatedDisk
import SystemSupport
import TestSupport

/// Calls to the disk that report success and do nothing, without the model's knowledge. Such calls
/// simulate a bug without a rebuild.
struct Omission {
  let calls: Plan.Calls
  /// A part of the affected paths.
  let path: String

  func contains(_ call: DiskCall) -> Bool { calls.contains(call) && call.path.contains(path) }
}

extension Simulation {
  /// Starts to inject faults into the daemon's calls to the disk and to record the calls.
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
      // Other threads run while the disk works.
      if machine_is_thread() { wait(for: call, fault) }
      record(call)
      return fault == .never ? nil : fault
    }
  }

  /// Returns the recording that a file belongs to.
  private static func recording(_ path: String) -> String? {
    let names = path.split(separator: "/")
    return names.count > 2 && names[1] == "recordings" ? String(names[2]) : nil
  }

  private func wait(for call: DiskCall, _ fault: DiskFault?) {
    if fault == .never {
      hangs += 1
      // An orderly stop waits for the disk, so calls hang only until the stop begins.
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

  /// Records the effect of a call that is about to succeed.
  private func record(_ call: DiskCall) {
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

  // MARK: Expected contents of the disk

  func willLosePower() {
    isLosing = true
    witness.begin(disk)
  }

  /// If the power has failed, updates the expected contents of the disk.
  func noteLoss() {
    guard isLosing else { return }
    isLosing = false
    witness.end(disk)
    guard hasLied else { return }
    hasLied = false
    model.spoil(rooms)
  }

  /// Flips single bits on the disk, or removes whole lines, while the daemon does not run.
  ///
  /// - Parameter rot: the position of the damage, or nil for a random file.
  func spoil(_ bits: Int, at rot: Plan.Rot? = nil) {
    var changed: [(path: String, lost: [UInt8])] = []
    var places: Set<String> = []
    // Without other faults, a single flipped bit is a stricter test, because the exact loss is
    // known.
    for _ in 0..<(plan.misfortunes.contains(.alone) ? min(bits, 1) : bits) {
      guard let spot = rot.flatMap({ spot(of: $0) }) ?? weakSpot() ?? anySpot() else { continue }
      let (path, offset) = (spot.path, random.pick(spot.bytes))
      // A second change of the same byte might restore the byte.
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

  /// A position in a file.
  private struct Spot {
    var path: String
    var bytes: Range<Int>
    /// Whether the line at this position and all later lines are removed, instead of one flipped
    /// bit.
    var isCut = false
  }

  /// Returns a random position. Every kind of file is equally likely, regardless of the number of
  /// files.
  private func anySpot() -> Spot? {
    let kinds = Dictionary(grouping: files(in: SimulatedDaemon.directory)) {
      String($0.split(separator: "/")[1].prefix { $0 != "." })
    }.sorted { $0.key < $1.key }
    return kinds.randomElement(using: &random).flatMap { spot(in: $0.value) { 0..<$0.count } }
  }

  /// Returns a position that recovery depends on, or nil one time in seven. These positions are:
  /// - the newest snapshot of a room, preferably after a recording;
  /// - the first line of a segment, preferably its checksum;
  /// - the last batch of a segment that is not the newest;
  /// - the newest segments, which are still written to.
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

  /// Returns the last batch of a segment that is not the newest.
  private func lastLines(of segments: [String]) -> Spot? {
    spot(in: segments.filter { !behind($0).isEmpty }) { bytes in
      let lines = bytes.indices.filter { bytes[$0] == 10 }
      return (lines.suffix(Self.lastLines).first ?? 0)..<bytes.count
    }
  }

  /// The approximate number of lines of a batch.
  private static let lastLines = 16
  /// The approximate length of a line's number and checksum, in bytes.
  private static let checksum = 24

  private func spot(in paths: [String], _ bytes: ([UInt8]) -> Range<Int>) -> Spot? {
    guard let path = paths.randomElement(using: &random), let contents = disk.contents(of: path),
      !contents.isEmpty
    else { return nil }
    let range = bytes(contents)
    return range.isEmpty ? nil : Spot(path: path, bytes: range)
  }

  /// Returns the contents of all segments after `path`.
  private func behind(_ path: String) -> [UInt8] {
    guard path.hasSuffix(".ndjson"), let slash = path.lastIndex(of: "/") else { return [] }
    return files(in: String(path[..<slash])).filter { $0 > path }
      .reduce([]) { $0 + (disk.contents(of: $1) ?? []) }
  }

  /// Records that the lines `lost` of a file may be missing after a restart.
  private func spoiled(_ path: String, _ lost: [UInt8]) {
    let names = path.split(separator: "/").map(String.init)
    switch names[1] {
    case "log":
      for room in rooms { spoil(room, lost, in: nil) }
    case "recordings":
      for room in rooms where names[2].hasPrefix(room) { spoil(room, lost, in: names[2]) }
    // The file `log.json` names the newest segment and has no data of rooms.
    case _ where names.count == 2: return
    default:
      let newest = path.hasSuffix(".previous") ? String(path.dropLast(9)) : path
      // The previous snapshot is not needed while the newest snapshot exists.
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

  /// Whether the previous snapshot, the recordings and the log contain everything that the newest
  /// snapshot contains. False if a write failed or a recording was replayed.
  private func isSpare(_ path: String, of room: String) -> Bool {
    !hasEverFailed && model.rooms[room]?.copies.isEmpty != false
      && spoiledFiles.allSatisfy { $0 == path || $0.hasPrefix(SimulatedDaemon.directory + "/log.") }
  }

  /// Copies the disk to ``dump`` for a developer to examine.
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
  /// Finds the messages that a room loses if these lines of segments are lost.
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

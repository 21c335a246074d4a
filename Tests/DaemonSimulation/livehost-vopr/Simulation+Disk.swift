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
        hasFailed = true
        return fault
      case .short?, .slow?, .never?, .lie?, nil: break
      }
      // Others run while the disk works.
      if machine_is_thread() { wait(for: call, fault) }
      note(call)
      return fault == .never ? nil : fault
    }
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
    let fault = faults.remove(at: index).fault
    if fault == .lie {
      guard call.operation == .sync || call.operation == .syncDirectory else { return nil }
      hasLied = true
    }
    return fault
  }

  /// Sees what a call is good for that is about to succeed.
  private func note(_ call: DiskCall) {
    let isSegment = call.path.hasSuffix(".ndjson")
    let isLog = call.path.contains("/log/")
    switch call.operation {
    case .sync:
      let bytes = disk.contents(of: call.path)?.count ?? 0
      witness.noteSync(of: call.path, bytes: bytes)
      if let before = sizes.removeValue(forKey: call.path), bytes < before { count(.tornLog) }
    case .create:
      witness.noteCut(of: call.path, bytes: 0)
      if isSegment, isServing, !call.path.hasSuffix("000001.ndjson") { count(.rotation) }
    case .truncate:
      witness.noteCut(of: call.path, bytes: call.bytes)
      if isLog, !isServing { sizes[call.path] = disk.contents(of: call.path)?.count }
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

  /// Changes single bits of what is on the disk while the daemon does not run.
  func spoil(_ bits: Int) {
    for _ in 0..<bits {
      let files = files(in: SimulatedDaemon.directory)
      guard !files.isEmpty else { return }
      let path = files[random.pick(0..<files.count)]
      guard let size = disk.contents(of: path)?.count, size > 0 else { continue }
      let offset = random.pick(0..<size)
      trace.add("\(path) changes at byte \(offset) of \(size)")
      witness.begin(disk)
      disk.rot(path, at: offset, bits: 1 << UInt8(random.pick(0..<8)))
      witness.end(disk)
      spoiled(path)
    }
  }

  /// What was in a file may be gone, or some of it.
  private func spoiled(_ path: String) {
    let names = path.split(separator: "/").map(String.init)
    switch names[1] {
    case "log": model.spoil(rooms)
    case "recordings": model.spoil(rooms.filter { names[2].hasPrefix($0) })
    // Says which segment is the newest: nothing of a room is in it.
    case _ where names.count == 2: return
    default:
      let newest = path.hasSuffix(".previous") ? String(path.dropLast(9)) : path
      // The older one is not needed while there is the newest.
      guard newest.hasSuffix(".json"), newest == path || disk.contents(of: newest) == nil else {
        return
      }
      model.spoil(rooms.filter { names[2].hasPrefix($0) })
      witness.noteSpoiled(path)
    }
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

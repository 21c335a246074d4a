import FileSystem
import Foundation
import Glibc
import LiveEvents
import RateLimiting
import Recordings
import SimulatedDisk
import Synchronization
import TestSupport
import Testing

/// A room that is recorded on a simulated disk by several processes, and the steps that must
/// survive.
private final class Witness {
  let disk: SimulatedDisk
  private let catalogue: TemporaryDirectory?
  /// The posted steps, and how many of them were acknowledged.
  private struct Steps {
    var written: [RecordedStep] = []
    var acknowledged = 0
  }
  /// The steps of recordings, by their names.
  private var recorded: [String: Steps] = [:]
  private var logged = Steps()
  private var lives: UInt64 = 0

  var recordings: [String: [RecordedStep]] { recorded.mapValues(\.written) }

  /// - Parameter keepsCatalogue: whether the catalogue survives the faults of the disk.
  init(_ disk: SimulatedDisk, keepsCatalogue: Bool = false) throws {
    self.disk = disk
    catalogue = keepsCatalogue ? TemporaryDirectory(in: "/dev/shm") : nil
    for directory in ["/state", "/log"] { try disk.makeDirectory(directory) }
    try disk.syncDirectory("/")
  }

  /// Sets the faults of the disk for all later calls.
  func decide(_ decide: @escaping @Sendable (DiskCall) -> DiskFault?) {
    disk.decide { [path = catalogue?.path] call in
      let fault = decide(call)
      if let path, fault == .powerLoss || fault == .processEnd {
        // Later changes of the process to its catalogue are discarded.
        try? FileManager.default.copyItem(atPath: path + "/catalogue", toPath: path + "/kept")
      }
      return fault
    }
  }

  /// Prepares the disk and the catalogue for the next process.
  func restart() {
    disk.restart()
    guard let path = catalogue?.path, FileManager.default.fileExists(atPath: path + "/kept") else {
      return
    }
    try? FileManager.default.removeItem(atPath: path + "/catalogue")
    try? FileManager.default.moveItem(atPath: path + "/kept", toPath: path + "/catalogue")
  }

  /// A process of the program.
  func open() throws -> RecordingLibrary {
    var settings = RecordingSettings(
      on: disk, cataloguePath: catalogue.map { $0.path + "/catalogue" } ?? ":memory:")
    settings.segmentBytes = 2_500
    // Writing the file beside the log syncs the names in its directory.
    return try RecordingLibrary(
      directory: "/state/recordings", log: "/log/rooms", settings: settings.syncingRarely)
  }

  /// Resumes or starts a recording, writes to it, and closes it unless the disk fails.
  func live(batches: Int, finishes: Bool) async throws {
    let library = try open()
    defer { library.close() }
    guard (try? await library.recoverLog()) != nil else { return }
    let room = try await LoggedRoom(in: library)
    guard let recorder = await begin(room, in: library) else { return }
    lives += 1
    let steps = makeSteps(batches * 10, seed: lives)
    for batch in 0..<batches {
      await write(
        steps[batch * 10..<batch * 10 + 10], room, recorder, library, syncs: batch % 3 != 1)
    }
    if finishes {
      let end = try? await recorder.finish(digest: nil, endedAt: 1)
      if end?.state == .finished { acknowledge(recorder) }
    } else if (try? await recorder.interrupt(endedAt: 1)) != nil, recorder.failure == nil {
      acknowledge(recorder)
    }
  }

  private func begin(_ room: LoggedRoom, in library: RecordingLibrary) async -> RoomRecorder? {
    guard let list = try? await library.list() else { return nil }
    let last = list.last { $0.state == .interrupted }
    let recorder = try? await room.record(
      resuming: last?.name, startedAt: 1_700_000_000_000 + Int(lives) * 1_000)
    if let recorder, recorded[recorder.name] == nil { recorded[recorder.name] = Steps() }
    return recorder
  }

  private func acknowledge(_ recorder: RoomRecorder) {
    logged.acknowledged = logged.written.count
    let count = recorded[recorder.name]?.written.count ?? 0
    recorded[recorder.name]?.acknowledged = count
  }

  private func write(
    _ steps: ArraySlice<RecordedStep>, _ room: LoggedRoom, _ recorder: RoomRecorder,
    _ library: RecordingLibrary, syncs: Bool
  ) async {
    recorded[recorder.name]?.written += steps
    logged.written += steps
    if syncs {
      await room.write(steps)
      if room.log.failure == nil { acknowledge(recorder) }
    } else {
      room.post(steps)
      // The second call is in a later group commit.
      for _ in 1...2 { await library.settle() }
    }
  }

  /// Starts the program after a crash, and expects all acknowledged steps, exactly as written.
  ///
  /// - Parameter trustsSyncs: whether acknowledged steps must be present.
  func check(_ place: Comment, trustsSyncs: Bool = true) async throws {
    restart()
    let library = try open()
    defer { library.close() }
    let found = try steps(of: try await library.recoverLog())
    // Otherwise whole segments may be missing.
    if trustsSyncs {
      #expect(found.all == Array(logged.written.prefix(found.all.count)), place)
      #expect(found.all.count >= logged.acknowledged, place)
    }
    logged = Steps(written: found.all, acknowledged: found.all.count)
    let list = try await library.list()
    for summary in list {
      let all = recorded[summary.name] ?? Steps()
      let (read, damage) = try await library.readable(summary.name)
      #expect(read == Array(all.written.prefix(read.count)), place)
      if trustsSyncs {
        #expect(summary.state != .damaged && damage == nil, "\(place): \(summary.reason ?? "")")
        let logged = found.byRecording[summary.name] ?? []
        // A failed recording may lack the last batches of its room.
        #expect(
          summary.state == .failed ? logged.starts(with: read) : logged == read,
          "\(place): \(summary.state) has \(read.count) of \(logged.count) steps")
      }
      recorded[summary.name] = Steps(written: read, acknowledged: read.count)
    }
    for (name, steps) in recorded where trustsSyncs && steps.acknowledged > 0 {
      #expect(list.contains { $0.name == name }, "\(place): \(name) is gone")
    }
  }

  /// Returns the steps of the room in the log, and of its recordings.
  private func steps(
    of log: LogContents
  ) throws -> (all: [RecordedStep], byRecording: [String: [RecordedStep]]) {
    var (all, byRecording): ([RecordedStep], [String: [RecordedStep]]) = ([], [:])
    var recording: String?
    for segment in log.segments {
      var reader = RecordingReader(segment)
      var steps: [RecordedStep] = []
      var damage: RecordingError?
      do throws(RecordingError) { while try reader.read(into: &steps) {} } catch { damage = error }
      for step in steps {
        if let mark = LogMark(step) {
          recording = mark.recording
        } else {
          all.append(step)
          if let recording { byRecording[recording, default: []].append(step) }
        }
      }
      if damage != nil { break }
    }
    return (all, byRecording)
  }
}

/// The guarantees of the log and of recordings when the power or the disk fails.
@Suite struct PowerLossTests {
  /// Creates, appends to, syncs, rotates, interrupts, recovers, resumes and finishes a recording.
  private func lives(_ witness: Witness) async throws {
    try await witness.live(batches: 4, finishes: false)
    try await witness.live(batches: 3, finishes: true)
  }

  @Test(arguments: [true, false], [DiskFault.powerLoss, .processEnd])
  func `a crash before any call leaves all acknowledged steps, and the recording continues`(
    keepsCatalogue: Bool, fault: DiskFault
  ) async throws {
    var number = 2
    var hasCrashed = true
    while hasCrashed {
      number += 1
      let place: Comment = "crash at call \(number)"
      let disk = SimulatedDisk(seed: UInt64(number), pageBytes: 512)
      let witness = try Witness(disk, keepsCatalogue: keepsCatalogue)
      let crash = number
      witness.decide { $0.number == crash ? fault : nil }
      try await lives(witness)
      hasCrashed = disk.calls >= number
      try await witness.check(place)
      try await witness.live(batches: 2, finishes: true)
      // Steps synced by the second process survive, whatever the first one left unsynced.
      disk.losePower()
      try await witness.check(place)
    }
    #expect(number > 60)
  }

  @Test func `a crash before any call of a recovery loses nothing`()
    async throws
  {
    var recoveries = 0
    for number in stride(from: 3, to: 130, by: 5) {
      var (call, hasCrashed) = (0, true)
      while hasCrashed {
        call += 1
        let disk = SimulatedDisk(seed: UInt64(number * 1_000 + call), pageBytes: 512)
        let witness = try Witness(disk)
        witness.decide { $0.number == number ? .powerLoss : nil }
        try await lives(witness)
        guard disk.counts[.powerLoss] == 1 else { break }
        witness.restart()
        let crash = disk.calls + call
        witness.decide { $0.number == crash ? .powerLoss : nil }
        let library = try witness.open()
        _ = try? await library.list()
        library.close()
        hasCrashed = disk.counts[.powerLoss] == 2
        recoveries += 1
        try await witness.check("crash at call \(number), and \(call) of the recovery")
      }
    }
    #expect(recoveries > 250)
  }

  @Test func `a segment name that a killed process did not sync is synced before the next one`()
    async throws
  {
    for seed in 1...100 as ClosedRange<UInt64> {
      let disk = SimulatedDisk(seed: seed)
      let witness = try Witness(disk)
      for (segment, fault) in [("1", DiskFault.processEnd), ("2", .powerLoss)] {
        witness.decide { call in
          let file = "\(call.path)/00000\(segment).ndjson"
          guard call.path.hasPrefix("/state/recordings/") else { return nil }
          return call.operation == .syncDirectory && disk.contents(of: file) != nil ? fault : nil
        }
        try await witness.live(batches: 1, finishes: false)
        witness.restart()
      }
      #expect(disk.counts[.processEnd] == 1 && disk.counts[.powerLoss] == 1)
      try await witness.check("seed \(seed)")
    }
  }

  @Test func `bytes that a failed sync left in memory are rewritten before later ones`()
    async throws
  {
    for seed in 1...60 as ClosedRange<UInt64> {
      let disk = SimulatedDisk(seed: seed, pageBytes: 512)
      let witness = try Witness(disk)
      witness.decide { call in
        let isAffected =
          call.operation == .sync || call.operation == .truncate && seed % 2 == 0
        return isAffected && call.number > 10 + seed ? .error(EIO) : nil
      }
      try await witness.live(batches: 6, finishes: false)
      disk.endProcess()
      try await witness.check("seed \(seed), before the power failed")
      try await witness.live(batches: 1, finishes: true)
      disk.losePower()
      try await witness.check("seed \(seed)")
    }
  }

  @Test func `a crash does not restore a segment that a recovery has cut and removed`()
    async throws
  {
    var removed = 0
    for seed in 1...40 as ClosedRange<UInt64> {
      let disk = SimulatedDisk(seed: seed, pageBytes: 512)
      let witness = try Witness(disk)
      let path = Mutex<String?>(nil)
      witness.decide { call in
        guard call.operation == .sync, call.path.hasPrefix("/state/recordings/"),
          call.path.hasSuffix("/000002.ndjson")
        else { return nil }
        // Its header is synced, and nothing else.
        return path.withLock { exchange(&$0, with: call.path) } == nil ? nil : .error(EIO)
      }
      try await witness.live(batches: 8, finishes: false)
      disk.endProcess()
      try await witness.check("seed \(seed), before the power failed")
      if let path = path.withLock(\.self), disk.contents(of: path) == nil { removed += 1 }
      disk.losePower()
      try await witness.check("seed \(seed)")
    }
    #expect(removed == 40)
  }

  @Test
  func `a log that could not be read at one start is kept if no file names its segment`()
    async throws
  {
    let disk = SimulatedDisk()
    let settings = RecordingSettings(on: disk).syncingRarely
    // Killed before the file beside the log was written. At the next start the log cannot be read.
    for fault in [DiskFault.processEnd, .error(EIO)] {
      disk.decide { call in
        let isNote = call.path.hasPrefix("/recordings.log.json")
        return switch call.operation {
        case .create where fault == .processEnd && isNote: fault
        case .examine where fault != .processEnd && !isNote: fault
        default: nil
        }
      }
      let library = try RecordingLibrary(directory: "/recordings", settings: settings)
      let room = try await LoggedRoom(in: library)
      await room.write(makeSteps(10))
      library.close()
      disk.restart()
    }
    let library = try RecordingLibrary(directory: "/recordings", settings: settings)
    defer { library.close() }
    let contents = try await library.recoverLog()
    #expect(contents.segments.count == 2 && contents.losses == [])
  }

  /// Faults that a disk may have at any call without breaking the guarantees of syncs.
  private static func fault(_ call: DiskCall, _ random: inout SplitMix64) -> DiskFault? {
    let errors = [EIO, ENOSPC, EDQUOT]
    switch random.pick(0..<60) {
    case 0: return .powerLoss
    case 1: return .processEnd
    case 2: return .error(errors[random.pick(0..<3)])
    case 3...9: return call.operation == .write || call.operation == .read ? .short : nil
    case 10...15: return call.operation == .sync ? .slow(1_000_000_000) : nil
    default: return nil
    }
  }

  @Test
  func `with any fault, all acknowledged steps exist, and no others than were written`()
    async throws
  {
    var events: [DiskEvent: Int] = [:]
    for seed in 1...120 as ClosedRange<UInt64> {
      let disk = SimulatedDisk(seed: seed, pageBytes: 512)
      let witness = try Witness(disk, keepsCatalogue: seed % 4 == 0)
      let random = Mutex(SplitMix64(seed: seed))
      for life in 1...5 {
        witness.decide { call in random.withLock { Self.fault(call, &$0) } }
        try await witness.live(batches: 5, finishes: life % 2 == 0)
        if seed % 3 == 0 { disk.losePower() } else { disk.endProcess() }
        try await witness.check("seed \(seed), life \(life)")
      }
      events.merge(disk.counts, uniquingKeysWith: +)
    }
    let others: Set<DiskEvent> = [.lie, .never, .rot, .otherError]
    for event in DiskEvent.allCases where !others.contains(event) {
      #expect(events[event] ?? 0 > 0, "\(event) never happened: \(events)")
    }
  }

  @Test func `after a sync that did nothing, the remaining steps are as they were written`()
    async throws
  {
    var lies = 0
    for seed in 1...60 as ClosedRange<UInt64> {
      let disk = SimulatedDisk(seed: seed, pageBytes: 512)
      let witness = try Witness(disk)
      let random = Mutex(SplitMix64(seed: seed))
      disk.decide { call in
        let isSync = call.operation == .sync || call.operation == .syncDirectory
        return isSync && random.withLock { $0.oneIn(3) } ? .lie : nil
      }
      try await lives(witness)
      disk.losePower()
      lies += disk.counts[.lie] ?? 0
      try await witness.check("seed \(seed)", trustsSyncs: false)
    }
    #expect(lies > 100)
  }

  @Test func `a rotten byte ends the readable steps and is reported`() async throws {
    for seed in 1...80 as ClosedRange<UInt64> {
      let disk = SimulatedDisk(seed: seed)
      // Without a catalogue, lines after the last sync look like an incomplete end.
      let witness = try Witness(disk, keepsCatalogue: true)
      try await witness.live(batches: 5, finishes: true)
      let name = try #require(witness.recordings.keys.first)
      let directory = "/state/recordings/" + name
      var random = SplitMix64(seed: seed)
      let files = try disk.names(in: directory)
      let path = directory + "/" + files[random.pick(0..<files.count)]
      let bytes = try #require(disk.contents(of: path))
      let offset = random.pick(0..<bytes.count)
      disk.rot(path, at: offset, bits: 1 << UInt8(random.pick(0..<8)))
      let library = try witness.open()
      defer { library.close() }
      let (read, damage) = try await library.readable(name)
      let all = witness.recordings[name] ?? []
      #expect(damage != nil, "byte \(offset) of \(path)")
      #expect(read == Array(all.prefix(read.count)) && read.count <= all.count)
    }
  }
}

import FileSystem
import Foundation
import Glibc
import LiveEvents
import RateLimiting
import Recordings
import SimulatedDisk
import Synchronization
import SystemSupport
import TestSupport
import Testing

/// The state directory of a version without log sequences.
private final class EarlierDisk {
  let disk: SimulatedDisk
  private(set) var messages = Messages()
  /// The number of events and frames in the converted log.
  private(set) var others: [RecordedStep] = []
  /// The snapshots that cannot be read.
  var unreadable: Set<String> = []
  private var settings: RecordingSettings { RecordingSettings(on: disk) }
  var snapshots: StateDirectory { StateDirectory("/state/rooms", disk: disk) }

  init(seed: UInt64 = 0) throws {
    disk = SimulatedDisk(seed: seed, pageBytes: 512)
    try disk.makeDirectory("/state")
    try disk.syncDirectory("/")
  }

  // MARK: The state

  /// A step with a name.
  static func step(_ name: String, at time: Int64 = 0) -> RecordedStep {
    .change(#"{"step":"\#(name)"}"#, at: Instant(nanoseconds: time))
  }

  /// Writes a batch to the log for each text, which consists of the members of a mark, a space, and
  /// the names of steps.
  func log(_ batches: String..., segmentBytes: Int = 32 << 20) async throws {
    var settings = settings
    settings.segmentBytes = segmentBytes
    let library = try RecordingLibrary(
      directory: "/unused", log: "/state/log", settings: settings)
    // Otherwise no room needs the segments.
    library.keep("main") { _ in }
    let log = library.log("main") {}
    for text in batches {
      let parts = text.split(separator: " ").map(String.init)
      var batch = RecordedBatch()
      batch.addChange("{\(parts[0])}", at: .origin)
      for name in parts.dropFirst() { batch.addChange(#"{"step":"\#(name)"}"#, at: .origin) }
      log.post(batch)
    }
    await withCheckedContinuation { continuation in log.whenSynced { continuation.resume() } }
    library.close()
    // Earlier versions did not write a version.
    let state = StateDirectory("/state", disk: disk)
    _ = try state.remove("log.json")
    // The last segment may contain only its header.
    let newest = max(1, try disk.names(in: "/state/log").count - 1)
    try state.replace("log.json", with: Array(#"{"newest":\#(newest),"startedAt":0}"#.utf8))
    try state.sync()
  }

  /// Writes a recording, finished or unclosed, and returns its name.
  func record(
    _ steps: [RecordedStep], room: String = "main", isOver: Bool = true
  ) async throws -> String {
    let library = try RecordingLibrary(
      directory: "/state/recordings", log: "/unused", settings: settings)
    let log = library.log(room) {}
    let recorder = try await library.start(room: room, startedAt: 1_700_000_000_000) { _ in }
    var batch = RecordedBatch()
    batch.addMark(LogMark(room: room, sequence: log.nextSequence(), after: 0))
    for step in steps {
      if case .change(let text, let instant) = step { batch.addChange(text, at: instant) }
    }
    batch.recorder = recorder
    log.post(batch)
    await library.settle()
    if isOver {
      _ = try await recorder.finish(digest: nil, endedAt: 1)
    } else {
      try await recorder.interrupt(endedAt: 1)
    }
    library.close()
    return recorder.name
  }

  /// Writes a snapshot. The snapshot before becomes the previous version.
  func save(_ members: String = "", of room: String = "main") throws {
    try snapshots.replace(
      "\(room).json", with: Array(#"{"room":"\#(room)","version":2\#(members)}"#.utf8))
    try snapshots.sync()
  }

  // MARK: The conversion

  /// Returns a position in a recording.
  static func recorded(_ recording: String, _ time: Int64, _ steps: Int) -> String {
    #"{"recording":"\#(recording)","instant":{"nanoseconds":\#(time)},"steps":\#(steps)}"#
  }

  /// Converts the state, and returns the losses.
  @discardableResult
  func convert(segmentBytes: Int = 32 << 20) async throws -> [String] {
    messages = Messages()
    var settings = settings
    settings.segmentBytes = segmentBytes
    let library = try RecordingLibrary(
      directory: "/state/recordings", log: "/state/log", settings: settings,
      onProblem: { [messages] in messages.add($0) })
    defer { library.close() }
    return try await library.convertEarlierState(of: snapshots) { [snapshots, unreadable] in
      unreadable.contains($1) ? nil : try? snapshots.read($1, limit: 1 << 20).line
    }
  }

  /// Returns the steps of each room in the converted log up to the first gap, and the time at which
  /// the room was opened.
  func converted() async throws -> [String: [String]] {
    let library = try RecordingLibrary(
      directory: "/state/recordings", log: "/state/log", settings: settings,
      onProblem: { [messages] in messages.add($0) })
    defer { library.close() }
    var (rooms, sequences): ([String: [String]], [String: Int]) = ([:], [:])
    var newest = 0
    for segment in try await library.recoverLog().segments {
      var reader = RecordingReader(segment)
      var steps: [RecordedStep] = []
      while try reader.read(into: &steps) {}
      var room = ""
      for step in steps {
        if let mark = LogMark(step) {
          #expect(mark.sequence == newest + 1 && mark.after == sequences[mark.room] ?? 0)
          (newest, sequences[mark.room], room) = (mark.sequence, mark.sequence, mark.room)
          if let time = mark.opened { rooms[room, default: []].append("opened \(time)") }
        } else if case .change(let text, _) = step {
          let isStep = text.hasPrefix(#"{"step":"#)
          rooms[room, default: []].append(isStep ? String(text.dropFirst(9).dropLast(2)) : text)
        } else {
          others.append(step)
        }
      }
    }
    return rooms
  }

  /// Returns the names of all entries in the state directory, and of snapshots.
  func names() throws -> (state: [String], snapshots: [String]) {
    (try disk.names(in: "/state").sorted(), (try? disk.names(in: "/state/rooms").sorted()) ?? [])
  }
}

/// The conversion of the state of versions without log sequences.
@Suite(.timeLimit(.minutes(5))) struct EarlierStateTests {
  private typealias Earlier = EarlierDisk

  @Test func `a room without a snapshot keeps its opening and all batches`() async throws {
    let earlier = try Earlier()
    try await earlier.log(
      #""room":"main","session":1,"batch":1,"opened":1700 a b"#,
      #""room":"other","session":2,"batch":1,"opened":1800 x"#,
      #""room":"main","session":1,"batch":2 c"#,
      // The room was hibernated in between.
      #""room":"main","session":3,"batch":1,"after":{"session":1,"batch":2} d"#)
    #expect(try await earlier.convert() == [])
    #expect(
      try await earlier.converted()
        == ["main": ["opened 1700", "a", "b", "c", "d"], "other": ["opened 1800", "x"]])
    #expect(earlier.messages.all == [])
    #expect(try earlier.names().state == ["log", "log.json", "recordings"])
  }

  @Test
  func `only batches after the newest snapshot are converted, and the previous one is removed`()
    async throws
  {
    let earlier = try Earlier()
    try await earlier.log(
      #""room":"main","session":1,"batch":1,"opened":1700 a"#,
      #""room":"main","session":1,"batch":2 b"#, #""room":"main","session":1,"batch":3 c"#)
    try earlier.save(#","log":{"session":1,"batch":1}"#)
    try earlier.save(#","log":{"session":1,"batch":2}"#)
    #expect(try await earlier.convert() == [])
    #expect(try await earlier.converted() == ["main": ["c"]])
    #expect(try earlier.names().snapshots == ["main.json"])
  }

  @Test func `a room with an unreadable newest snapshot continues from the previous one`()
    async throws
  {
    let earlier = try Earlier()
    try await earlier.log(
      #""room":"main","session":1,"batch":1,"opened":1700 a"#,
      #""room":"main","session":1,"batch":2 b"#, #""room":"main","session":1,"batch":3 c"#)
    try earlier.save(#","log":{"session":1,"batch":1}"#)
    try earlier.save(#","log":{"session":1,"batch":2}"#)
    earlier.unreadable = ["main.json"]
    #expect(try await earlier.convert() == [])
    #expect(try await earlier.converted() == ["main": ["b", "c"]])
    // The restoration of the room sets the unreadable snapshot aside, and reports it.
    #expect(try earlier.names().snapshots == ["main.json", "main.json.previous"])
  }

  @Test func `a room that was being recorded gets the steps of its recording after the snapshot`()
    async throws
  {
    let earlier = try Earlier()
    let recording = try await earlier.record(
      [
        Earlier.step("a", at: 1), Earlier.step("b", at: 2), Earlier.step("c", at: 2),
        Earlier.step("d", at: 2), Earlier.step("e", at: 3),
      ], isOver: false)
    try await earlier.log(#""room":"main","session":1,"batch":1,"opened":1700 before"#)
    try earlier.save(
      #","log":{"session":1,"batch":1},"recording":\#(Earlier.recorded(recording, 2, 2))"#)
    #expect(try await earlier.convert() == [])
    #expect(try await earlier.converted() == ["main": ["d", "e"]])
    #expect(earlier.messages.all == [])
  }

  @Test
  func `snapshots of version 1, which had no log, are converted with and without a recording`()
    async throws
  {
    let earlier = try Earlier()
    let recording = try await earlier.record(
      [Earlier.step("a", at: 1), Earlier.step("b", at: 2)], isOver: false)
    try earlier.save(#","recording":\#(Earlier.recorded(recording, 1, 1))"#)
    try earlier.save(of: "other")
    #expect(try await earlier.convert() == [])
    #expect(try await earlier.converted() == ["main": ["b"]])
    #expect(try earlier.names().snapshots == ["main.json", "other.json"])
    #expect(try earlier.names().state == ["log", "log.json", "recordings", "rooms"])
  }

  @Test(arguments: [false, true])
  func `log, recording and log continue each other, whether or not a snapshot names the recording`(
    isKnown: Bool
  ) async throws {
    let earlier = try Earlier()
    let recording = try await earlier.record([
      Earlier.step("b", at: 1), Earlier.step("c", at: 2), Earlier.step("d", at: 2),
      Earlier.step("not taken by the room", at: 3),
    ])
    let end = Earlier.recorded(recording, 2, 2)
    try await earlier.log(
      #""room":"main","session":1,"batch":1,"opened":1700 a"#,
      #""room":"main","session":4,"batch":1,"after":{"session":1,"batch":1},"recorded":\#(end) e"#,
      #""room":"main","session":4,"batch":2 f"#)
    if isKnown {
      try earlier.save(
        #","log":{"session":1,"batch":1},"recording":\#(Earlier.recorded(recording, 1, 1))"#)
    }
    #expect(try await earlier.convert() == [])
    let all = ["opened 1700", "a", "b", "c", "d", "e", "f"]
    let expected = isKnown ? Array(all.dropFirst(3)) : all
    // A resumed recording continues after the log.
    #expect(try await earlier.converted() == ["main": expected + ["not taken by the room"]])
  }

  @Test
  func `a gap before a second recording is reported, and later batches are not converted`()
    async throws
  {
    let earlier = try Earlier()
    let first = try await earlier.record([Earlier.step("b", at: 1)])
    let second = try await earlier.record([Earlier.step("d", at: 1)])
    try await earlier.log(
      #""room":"main","session":1,"batch":1,"opened":1700 a"#,
      #""room":"main","session":3,"batch":1,"after":{"session":1,"batch":1},"recorded":\#(Earlier.recorded(first, 1, 1)) c"#,
      #""room":"main","session":5,"batch":1,"after":{"session":3,"batch":1},"recorded":\#(Earlier.recorded(second, 1, 1)) e"#
    )
    let losses = try await earlier.convert()
    #expect(losses.map { $0.prefix(12) } == ["room main is"])
    #expect(try await earlier.converted() == ["main": ["opened 1700", "a", "b", "c"]])
    #expect(try earlier.names().state.contains("log.unconverted"))
  }

  @Test func `if the newest snapshot is unreadable, an unnamed recording is converted`()
    async throws
  {
    let earlier = try Earlier()
    let after = #"{"after":{"session":1,"batch":2}}"#
    _ = try await earlier.record(
      [.change(after, at: .origin), Earlier.step("c", at: 1)], isOver: false)
    try await earlier.log(
      #""room":"main","session":1,"batch":1,"opened":1700 a"#,
      #""room":"main","session":1,"batch":2 b"#)
    try earlier.save(#","log":{"session":1,"batch":1}"#)
    try earlier.save(#","log":{"session":1,"batch":2}"#)
    earlier.unreadable = ["main.json"]
    #expect(try await earlier.convert() == [])
    #expect(try await earlier.converted() == ["main": ["b", after, "c"]])
    #expect(earlier.messages.all.count == 1)
    #expect(earlier.messages.all.first?.contains("is restored from its recording") == true)
  }

  @Test func `a room with unreadable snapshots is restored from its recording`() async throws {
    let earlier = try Earlier()
    let after = #"{"after":{"session":1,"batch":2}}"#
    _ = try await earlier.record(
      [.change(after, at: .origin), Earlier.step("c", at: 1)], isOver: false)
    try await earlier.log(#""room":"main","session":1,"batch":2 b"#)
    try earlier.save(#","log":{"session":1,"batch":2}"#)
    earlier.unreadable = ["main.json"]
    #expect(try await earlier.convert() == [])
    #expect(
      try await earlier.converted() == ["main": ["opened 1700000000000", after, "c"]])
  }

  @Test func `batches after a gap in the log are not converted, and the gap is reported`()
    async throws
  {
    let earlier = try Earlier()
    try await earlier.log(
      #""room":"main","session":1,"batch":1,"opened":1700 a"#,
      #""room":"main","session":1,"batch":3 c"#, #""room":"main","session":1,"batch":4 d"#,
      #""room":"other","session":2,"batch":1,"opened":1800 x"#,
      #""room":"unknown","session":3,"batch":7 y"#)
    #expect(
      Set(try await earlier.convert()) == [
        "room main is restored without its last batches: the log has a gap before them",
        "room unknown is not restored: it has no snapshot, and the log does not contain its opening",
      ])
    #expect(earlier.messages.all.count == 2)
    #expect(
      try await earlier.converted()
        == ["main": ["opened 1700", "a"], "other": ["opened 1800", "x"]])
    // Users may want to examine the old log.
    #expect(try earlier.names().state == ["log", "log.json", "log.unconverted", "recordings"])
    // It is not converted a second time.
    #expect(try await earlier.convert() == [])
    #expect(try await earlier.converted().count == 2)
  }

  @Test func `steps during a pause of a recording are missing, and the loss is reported`()
    async throws
  {
    let earlier = try Earlier()
    let recording = try await earlier.record(
      [
        Earlier.step("a", at: 1), Earlier.step("b", at: 2),
        .change(#"{"followsSnapshot":true}"#, at: Instant(nanoseconds: 3)),
        Earlier.step("c", at: 4),
      ], isOver: false)
    try earlier.save(
      #","log":{"session":1,"batch":1},"recording":\#(Earlier.recorded(recording, 1, 1))"#)
    #expect(
      try await earlier.convert() == [
        "room main is restored without the steps from while recording \(recording) was paused, and after that"
      ])
    #expect(try await earlier.converted() == ["main": ["b"]])
  }

  @Test func `closed rooms are removed with their snapshots, and may have been reopened`()
    async throws
  {
    let earlier = try Earlier()
    try await earlier.log(
      #""room":"main","session":1,"batch":1,"opened":1700 a"#,
      #""room":"back","session":2,"batch":1,"opened":1800 b"#,
      #""room":"main","session":1,"batch":2,"closed":true"#,
      #""room":"back","session":2,"batch":2,"closed":true"#,
      #""room":"back","session":3,"batch":1,"opened":1900 c"#,
      #""room":"saved","session":4,"batch":1,"closed":true"#,
      #""room":"saved","session":5,"batch":1 e"#)
    try earlier.save(#","log":{"session":1,"batch":1}"#)
    let recording = try await earlier.record([Earlier.step("recorded", at: 1)])
    try earlier.save(
      #","log":{"session":1,"batch":1},"recording":\#(Earlier.recorded(recording, 0, 0))"#)
    try earlier.save(#","log":{"session":2,"batch":1}"#, of: "back")
    // The closing is older than the snapshot.
    try earlier.save(#","log":{"session":5,"batch":0}"#, of: "saved")
    #expect(try await earlier.convert() == [])
    #expect(try await earlier.converted() == ["back": ["opened 1900", "c"], "saved": ["e"]])
    #expect(try earlier.names().snapshots == ["saved.json"])
  }

  @Test func `a room that was set aside keeps the batches after its snapshot`() async throws {
    let earlier = try Earlier()
    try await earlier.log(
      #""room":"main","session":1,"batch":1,"opened":1700 a"#,
      #""room":"main","session":1,"batch":2 b"#)
    try earlier.save(#","log":{"session":1,"batch":1}"#)
    earlier.snapshots.move("main.json", .newest, to: "main.json.set-aside")
    try earlier.snapshots.sync()
    #expect(try await earlier.convert() == [])
    #expect(try await earlier.converted() == ["main": ["b"]])
    #expect(try earlier.names().snapshots == ["main.json.set-aside"])
  }

  @Test func `batches after a rotten byte are not converted, and the old log is kept`()
    async throws
  {
    let earlier = try Earlier()
    try await earlier.log(
      #""room":"main","session":1,"batch":1,"opened":1700 a"#,
      #""room":"main","session":1,"batch":2 rotten"#, #""room":"main","session":1,"batch":3 c"#)
    let path = "/state/log/000001.ndjson"
    let text = String(decoding: try #require(earlier.disk.contents(of: path)), as: UTF8.self)
    let place = try #require(text.range(of: "rotten"))
    earlier.disk.rot(path, at: text.utf8.distance(from: text.startIndex, to: place.lowerBound))
    _ = try await earlier.convert()
    #expect(earlier.messages.all.contains { $0.contains("damaged in segment 1") })
    #expect(try await earlier.converted() == ["main": ["opened 1700", "a"]])
    #expect(earlier.disk.contents(of: "/state/log.unconverted/000001.ndjson") != nil)
  }

  @Test func `impossible numbers and names are ignored`() async throws {
    let earlier = try Earlier()
    let recording = try await earlier.record(
      [Earlier.step("a", at: 1), .change(#"{"room":"main","step":"b"}"#, at: .origin)],
      isOver: false)
    try await earlier.log(
      #""room":"a\nb","session":1,"batch":1,"opened":1 x"#,
      #""room":"a\"b","session":2,"batch":1,"opened":1 x"#,
      #""room":"","session":3,"batch":1,"opened":1 x"#,
      #""room":"main","session":9223372036854775807,"batch":9223372036854775807 x"#,
      #""room":"main","session":-1,"batch":1 x"#, #""room":"main" x"#,
      #""room":"good","session":4,"batch":1,"opened":1 y"#)
    try earlier.save(
      #","log":{"session":9007199254740992,"batch":9007199254740992},"recording":\#(Earlier.recorded(recording, 0, -3))"#
    )
    try earlier.save(#","log":[]"#, of: "odd")
    _ = try await earlier.convert()
    #expect(try await earlier.converted() == ["main": ["a"], "good": ["opened 1", "y"]])
  }

  @Test func `events and frames are converted unchanged, in segments of the usual size`()
    async throws
  {
    let earlier = try Earlier()
    let steps = makeSteps(2_000)
    let library = try RecordingLibrary(
      directory: "/state/recordings", log: "/unused", settings: RecordingSettings(on: earlier.disk))
    let log = library.log("main") {}
    let recorder = try await library.start(room: "main", startedAt: 1) { _ in }
    var batch = RecordedBatch()
    batch.addMark(LogMark(room: "main", sequence: log.nextSequence(), after: 0))
    for step in steps {
      switch step {
      case .event(let event, let instant): batch.add([event], at: instant)
      case .frame(let instant, let flush): batch.addFrame(at: instant, flush: flush)
      case .change(let text, let instant): batch.addChange(text, at: instant)
      }
    }
    batch.recorder = recorder
    log.post(batch)
    _ = try await recorder.interrupt(endedAt: 1)
    library.close()
    try earlier.save(#","recording":\#(Earlier.recorded(recorder.name, 0, 0))"#)
    #expect(try await earlier.convert(segmentBytes: 32 << 10) == [])
    #expect(try await earlier.converted() == [:])
    #expect(earlier.others == steps)
    #expect(try earlier.disk.names(in: "/state/log").count > 3)
  }

  @Test func `a new directory and a log of the present version are not changed`() async throws {
    let earlier = try Earlier()
    #expect(try await earlier.convert() == [])
    #expect(try earlier.names().state == [])
    try await earlier.log(#""room":"main","sequence":7,"after":0,"opened":1700 a"#)
    let log = earlier.disk.contents(of: "/state/log/000001.ndjson")
    // The file that states the version of the log is missing.
    #expect(try await earlier.convert() == [])
    #expect(earlier.disk.contents(of: "/state/log/000001.ndjson")?.starts(with: log ?? []) == true)
    let calls = earlier.disk.calls
    #expect(try await earlier.convert() == [])
    #expect(earlier.disk.calls - calls < 12)
  }

  // MARK: Kills

  /// A state that needs all parts of the conversion.
  private func whole(seed: UInt64) async throws -> EarlierDisk {
    let earlier = try Earlier(seed: seed)
    let recording = try await earlier.record([Earlier.step("b", at: 1), Earlier.step("c", at: 2)])
    let end = Earlier.recorded(recording, 2, 1)
    let after = #"{"after":{"session":6,"batch":2}}"#
    _ = try await earlier.record(
      [.change(after, at: .origin), Earlier.step("s", at: 1)], room: "older", isOver: false)
    try await earlier.log(
      #""room":"main","session":1,"batch":1,"opened":1700 a"#,
      #""room":"closed","session":2,"batch":1,"opened":1800 x"#,
      #""room":"main","session":3,"batch":1,"after":{"session":1,"batch":1},"recorded":\#(end) d"#,
      #""room":"closed","session":2,"batch":2,"closed":true"#,
      #""room":"older","session":6,"batch":1,"opened":1900 q"#,
      #""room":"older","session":6,"batch":2 r"#, segmentBytes: 300)
    try earlier.save(#","log":{"session":1,"batch":1}"#)
    try earlier.save(
      #","log":{"session":1,"batch":1},"recording":\#(Earlier.recorded(recording, 1, 1))"#)
    try earlier.save(#","log":{"session":2,"batch":1}"#, of: "closed")
    try earlier.save(#","log":{"session":6,"batch":1}"#, of: "older")
    try earlier.save(#","log":{"session":6,"batch":2}"#, of: "older")
    earlier.unreadable = ["older.json"]
    return earlier
  }

  /// Faults that begin at a call. Reading does not fail, because unreadable files are not
  /// converted.
  private static func fault(_ fault: DiskFault, _ call: DiskCall, from end: Int) -> DiskFault? {
    guard case .error = fault else { return call.number == end ? fault : nil }
    let mayFail: [SystemError.Operation] = [.create, .write, .sync, .syncDirectory, .rename]
    return call.number >= end && mayFail.contains(call.operation) ? fault : nil
  }

  @Test(arguments: [DiskFault.processEnd, .powerLoss, .error(ENOSPC)])
  func `a conversion that ends at any call is repeated with the same result`(fault: DiskFault)
    async throws
  {
    var number = 0
    var hasEnded = true
    while hasEnded {
      number += 1
      let place: Comment = "fault at call \(number)"
      let earlier = try await whole(seed: UInt64(number))
      let end = earlier.disk.calls + number
      earlier.disk.decide { Self.fault(fault, $0, from: end) }
      _ = try? await earlier.convert()
      hasEnded = earlier.disk.calls >= end
      earlier.disk.restart()
      #expect(try await earlier.convert() == [], place)
      // The second start must not rely on bytes that the first one left in memory.
      earlier.disk.losePower()
      earlier.disk.restart()
      // The removal of the old log is not synced.
      #expect(try await earlier.convert() == [], place)
      let after = #"{"after":{"session":6,"batch":2}}"#
      #expect(
        try await earlier.converted() == ["main": ["c", "d"], "older": ["r", after, "s"]], place)
      let names = try earlier.names()
      #expect(names.state == ["log", "log.json", "recordings", "rooms"], place)
      #expect(names.snapshots == ["main.json", "older.json", "older.json.previous"], place)
      #expect(!earlier.messages.all.contains { $0.contains("log") }, place)
    }
    #expect(number > 100)
  }
}

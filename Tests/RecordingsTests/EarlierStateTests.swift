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

/// What a version without log sequences left on a disk.
private final class EarlierDisk {
  let disk: SimulatedDisk
  private(set) var messages = Messages()
  /// Events and frames in the converted log.
  private(set) var others: [RecordedStep] = []
  /// Snapshots that cannot be read.
  var unreadable: Set<String> = []
  private var settings: RecordingSettings { RecordingSettings(on: disk) }
  var snapshots: StateDirectory { StateDirectory("/state/rooms", disk: disk) }

  init(seed: UInt64 = 0) throws {
    disk = SimulatedDisk(seed: seed, pageBytes: 512)
    try disk.makeDirectory("/state")
    try disk.syncDirectory("/")
  }

  // MARK: The state

  /// One step of a room's life.
  static func step(_ name: String, at time: Int64 = 0) -> RecordedStep {
    .change(#"{"step":"\#(name)"}"#, at: Instant(nanoseconds: time))
  }

  /// Writes a batch of the log for each text: a mark's members, and behind a space the names of
  /// steps.
  func log(_ batches: String..., segmentBytes: Int = 32 << 20) async throws {
    var settings = settings
    settings.segmentBytes = segmentBytes
    let library = try RecordingLibrary(
      directory: "/unused", log: "/state/log", settings: settings)
    // Otherwise nobody needs the segments.
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
    // As earlier versions wrote it, without a version.
    let state = StateDirectory("/state", disk: disk)
    _ = try state.remove("log.json")
    // The last segment may have nothing but its first line.
    let newest = max(1, try disk.names(in: "/state/log").count - 1)
    try state.replace("log.json", with: Array(#"{"newest":\#(newest),"startedAt":0}"#.utf8))
    try state.sync()
  }

  /// Writes a recording, which is over or was being written. Returns its name.
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

  /// Writes a snapshot; the one before becomes the previous one.
  func save(_ members: String = "", of room: String = "main") throws {
    try snapshots.replace(
      "\(room).json", with: Array(#"{"room":"\#(room)","version":2\#(members)}"#.utf8))
    try snapshots.sync()
  }

  // MARK: The conversion

  /// A position in a recording.
  static func recorded(_ recording: String, _ time: Int64, _ steps: Int) -> String {
    #"{"recording":"\#(recording)","instant":{"nanoseconds":\#(time)},"steps":\#(steps)}"#
  }

  /// Converts it. Returns what was lost.
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

  /// The steps of each room in the converted log, as far as they lead on; of a room that was
  /// opened, with its time.
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

  /// What is there: names of files and directories in the state directory and of snapshots.
  func names() throws -> (state: [String], snapshots: [String]) {
    (try disk.names(in: "/state").sorted(), (try? disk.names(in: "/state/rooms").sorted()) ?? [])
  }
}

/// What a version without log sequences left is converted once.
@Suite(.timeLimit(.minutes(5))) struct EarlierStateTests {
  private typealias Earlier = EarlierDisk

  @Test func `a room that is only in the log keeps its opening and all that follows`() async throws
  {
    let earlier = try Earlier()
    try await earlier.log(
      #""room":"main","session":1,"batch":1,"opened":1700 a b"#,
      #""room":"other","session":2,"batch":1,"opened":1800 x"#,
      #""room":"main","session":1,"batch":2 c"#,
      // The room was packed in between.
      #""room":"main","session":3,"batch":1,"after":{"session":1,"batch":2} d"#)
    #expect(try await earlier.convert() == [])
    #expect(
      try await earlier.converted()
        == ["main": ["opened 1700", "a", "b", "c", "d"], "other": ["opened 1800", "x"]])
    #expect(earlier.messages.all == [])
    #expect(try earlier.names().state == ["log", "log.json", "recordings"])
  }

  @Test func `only what follows the newest snapshot is converted, and the one before is removed`()
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

  @Test func `a room whose newest snapshot cannot be read goes on from the one before`()
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
    // Whoever restores the room sets the other one aside, and tells.
    #expect(try earlier.names().snapshots == ["main.json", "main.json.previous"])
  }

  @Test func `a room that was being recorded gets what its recording has behind the snapshot`()
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

  @Test func `version 1, which had no log, saved rooms with a recording and without`() async throws
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
  func `log, recording and log lead on from each other, whether a snapshot knows the recording`(
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
    // A recording goes on behind what was logged, if it was resumed.
    #expect(try await earlier.converted() == ["main": expected + ["not taken by the room"]])
  }

  @Test
  func `a second recording that no snapshot leads to is told, and what follows it is not taken`()
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
    #expect(losses.map { $0.contains("of room main") } == [true])
    #expect(try await earlier.converted() == ["main": ["opened 1700", "a", "b", "c"]])
    #expect(try earlier.names().state.contains("log.unconverted"))
  }

  @Test func `a recording that no snapshot mentions follows if the newest one cannot be read`()
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

  @Test func `a room whose snapshots cannot be read begins with its recording`() async throws {
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

  @Test func `behind a gap in the log nothing is taken, and that is told`() async throws {
    let earlier = try Earlier()
    try await earlier.log(
      #""room":"main","session":1,"batch":1,"opened":1700 a"#,
      #""room":"main","session":1,"batch":3 c"#, #""room":"main","session":1,"batch":4 d"#,
      #""room":"other","session":2,"batch":1,"opened":1800 x"#,
      #""room":"unknown","session":3,"batch":7 y"#)
    #expect(
      Set(try await earlier.convert()) == [
        "the latest changes of room main are lost: the log does not continue its state",
        "room unknown is not restored: it has no snapshot, and the log does not contain its opening",
      ])
    #expect(earlier.messages.all.count == 2)
    #expect(
      try await earlier.converted()
        == ["main": ["opened 1700", "a"], "other": ["opened 1800", "x"]])
    // Somebody may want to look at it.
    #expect(try earlier.names().state == ["log", "log.json", "log.unconverted", "recordings"])
    // Not a second time.
    #expect(try await earlier.convert() == [])
    #expect(try await earlier.converted().count == 2)
  }

  @Test func `what happened during a pause of a recording is missing, and that is told`()
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
        "the changes of room main while recording \(recording) was paused, and after that, are lost"
      ])
    #expect(try await earlier.converted() == ["main": ["b"]])
  }

  @Test func `rooms that were closed are gone, with their snapshots, and may have come back`()
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
    // The closing is older than that.
    try earlier.save(#","log":{"session":5,"batch":0}"#, of: "saved")
    #expect(try await earlier.convert() == [])
    #expect(try await earlier.converted() == ["back": ["opened 1900", "c"], "saved": ["e"]])
    #expect(try earlier.names().snapshots == ["saved.json"])
  }

  @Test func `a room that was set aside keeps what follows its snapshot`() async throws {
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

  @Test func `behind a byte that has rotted nothing is taken, and the old log is kept`()
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

  @Test func `numbers and names that no daemon writes do no harm`() async throws {
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

  @Test func `events and frames are converted as they are, in segments of the usual size`()
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

  @Test func `neither a new directory nor a log of the present version is changed`() async throws {
    let earlier = try Earlier()
    #expect(try await earlier.convert() == [])
    #expect(try earlier.names().state == [])
    try await earlier.log(#""room":"main","sequence":7,"after":0,"opened":1700 a"#)
    let log = earlier.disk.contents(of: "/state/log/000001.ndjson")
    // It has lost what says that it is of the present version.
    #expect(try await earlier.convert() == [])
    #expect(earlier.disk.contents(of: "/state/log/000001.ndjson")?.starts(with: log ?? []) == true)
    let calls = earlier.disk.calls
    #expect(try await earlier.convert() == [])
    #expect(earlier.disk.calls - calls < 12)
  }

  // MARK: Kills

  /// A state in which all of that is to be done.
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

  /// What may happen from a call on. What cannot be read is not converted, so reading does not
  /// fail.
  private static func fault(_ fault: DiskFault, _ call: DiskCall, from end: Int) -> DiskFault? {
    guard case .error = fault else { return call.number == end ? fault : nil }
    let mayFail: [SystemError.Operation] = [.create, .write, .sync, .syncDirectory, .rename]
    return call.number >= end && mayFail.contains(call.operation) ? fault : nil
  }

  @Test(arguments: [DiskFault.processEnd, .powerLoss, .error(ENOSPC)])
  func `a start that ends at any call is followed by one with the same result`(fault: DiskFault)
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
      // What the first one has left in memory only must not be what the second one relies on.
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

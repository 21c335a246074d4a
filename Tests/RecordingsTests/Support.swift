import Foundation
import Glibc
import LiveEvents
import RateLimiting
import Recordings
import SimulatedDisk
import Synchronization
import TestSupport
import Testing

extension TemporaryDirectory {
  /// The directory of recordings. The log is beside it.
  var recordings: String { path + "/recordings" }

  /// Removes the log, and the file that names its newest segment.
  func loseLog() throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: path)
    where name.hasPrefix("recordings.log") {
      try FileManager.default.removeItem(atPath: path + "/" + name)
    }
  }

  /// Removes all files.
  func empty() throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: path) {
      try FileManager.default.removeItem(atPath: path + "/" + name)
    }
  }
}

func bytes(_ path: String) throws -> [UInt8] {
  Array(try Data(contentsOf: URL(fileURLWithPath: path)))
}

func write(_ bytes: some Collection<UInt8>, to path: String) throws {
  try Data(bytes).write(to: URL(fileURLWithPath: path))
}

/// The problems that a library reported.
final class Messages: Sendable {
  private let texts = Mutex<[String]>([])
  var all: [String] { texts.withLock { $0 } }
  func add(_ text: String) { texts.withLock { $0.append(text) } }
}

/// A recording of a version that did not number its lines. It is closed if it has a last line.
struct OldRecording {
  static let name = "main-20231114T221320Z"
  var lines: [String]

  func write(to directory: String, last: String? = nil) throws {
    let header =
      #"{"type":"recording","name":"\#(Self.name)","room":"main","segment":1,"#
      + #""startedAt":1700000000000,"version":1}"#
    let path = directory + "/" + Self.name
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    let text = ([header] + lines + [last].compactMap(\.self)).map { $0 + "\n" }.joined()
    try Data(text.utf8).write(to: URL(fileURLWithPath: path + "/000001.ndjson"))
  }
}

/// The members that chain the lines of a segment, read by an independent implementation.
struct LineMembers {
  var type: String?
  var number: Int?
  var checksum: String?
  var previous: String?
  var sequence: Int?
  /// The line before its checksum.
  var covered: [UInt8]

  init(_ line: [UInt8]) throws {
    let object = try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any]
    type = object?["type"] as? String
    number = object?["n"] as? Int
    checksum = object?["crc"] as? String
    previous = object?["previous"] as? String
    sequence = object?["sequence"] as? Int
    covered = Array(line.dropLast(#","crc":"01234567"}"#.utf8.count))
  }

  static func of(_ segment: [UInt8]) throws -> [LineMembers] {
    try segment.split(separator: 0x0A).map { try LineMembers(Array($0)) }
  }
}

/// Steps like those of a busy room: batches of events at one instant, separated by frames.
func makeSteps(_ count: Int, seed: UInt64 = 1) -> [RecordedStep] {
  var random = SplitMix64(seed: seed)
  var steps: [RecordedStep] = []
  var now: Int64 = 0
  while steps.count < count {
    now += Int64(random.next() % 20_000_000)
    let instant = Instant(nanoseconds: now)
    for _ in 0..<(random.next() % 5) {
      steps.append(.event(makeEvent(steps.count, &random), at: instant))
    }
    steps.append(.frame(at: instant, flush: random.next() % 7 == 0))
  }
  return Array(steps.prefix(count))
}

private func makeEvent(_ number: Int, _ random: inout SplitMix64) -> LiveEvent {
  let payload: LiveEvent.Payload =
    switch random.next() % 5 {
    case 0: .header(.viewers(count: Int(random.next() % 1000)))
    case 1: .header(.reaction(kind: "heart", count: 3))
    case 2: .control(.slider(Slider(control: "gain", phase: .change, value: 0.25)))
    default:
      .chat(
        .message(
          ChatMessage(
            id: "m\(number)", userID: "u\(random.next() % 9)", userName: "Ada \"A\"",
            badges: "subscriber,vip", text: "grüß\tdich \(number) \u{1} \\o/")))
    }
  return LiveEvent(timestamp: 1_700_000_000_000 + Timestamp(number), payload: payload)
}

/// A room that writes steps to the log. While it is being recorded, they are copied to its
/// recording.
final class LoggedRoom {
  let name: String
  let log: LogWriter
  private(set) var recorder: RoomRecorder?
  private let library: RecordingLibrary
  /// The log sequence of the newest batch.
  private var sequence: Int

  init(_ name: String = "main", in library: RecordingLibrary) async throws {
    // The log can only be read before it is written.
    let earlier = try? await library.recoverLog()
    let isWhole = earlier?.losses.isEmpty ?? true
    library.noteSequence((earlier?.newest ?? 0) + (isWhole ? 0 : 1 << 40))
    sequence = isWhole ? earlier?.rooms[name]?.last ?? 0 : library.unusedSequence()
    library.keep(name) { _ in }
    (self.name, self.library, log) = (name, library, library.log(name) {})
  }

  /// Starts a recording, or resumes one.
  func record(
    resuming recording: String? = nil, startedAt: Int = 1_700_000_000_000,
    onEvent: @escaping @Sendable (RecordingEvent) -> Void = { _ in }
  ) async throws -> RoomRecorder {
    let new =
      if let recording {
        try #require(try await library.resume(recording, onEvent: onEvent))
      } else {
        try await library.start(room: name, startedAt: startedAt, onEvent: onEvent)
      }
    recorder = new
    return new
  }

  /// Stops copying batches. The recording stays open.
  @discardableResult
  func endRecording() -> RoomRecorder? { exchange(&recorder, with: nil) }

  /// Stops copying batches, and closes the recording so that it can be resumed.
  func pause() async throws {
    try await endRecording()?.interrupt(endedAt: 1_700_000_050_000)
  }

  /// Posts steps as one batch, and returns its log sequence without waiting.
  @discardableResult
  func post(
    _ steps: some Collection<RecordedStep>, whenSynced completion: (@Sendable () -> Void)? = nil
  ) -> Int {
    var batch = RecordedBatch()
    if !steps.isEmpty {
      let before = exchange(&sequence, with: log.nextSequence())
      batch.addMark(
        LogMark(room: name, sequence: sequence, after: before, recording: recorder?.name))
    }
    for step in steps {
      switch step {
      case .event(let event, let instant): batch.add([event], at: instant)
      case .frame(let instant, let flush): batch.addFrame(at: instant, flush: flush)
      case .change(let text, let instant): batch.addChange(text, at: instant)
      }
    }
    if let completion { batch.whenSynced(completion) }
    batch.recorder = recorder
    log.post(batch)
    return sequence
  }

  /// Posts steps, waits until they are synced in the log or lost, and copied, and returns the log
  /// sequence.
  @discardableResult
  func write(_ steps: some Collection<RecordedStep>) async -> Int {
    await withCheckedContinuation { continuation in
      post(steps) { continuation.resume() }
    }
    await library.settle()
    return sequence
  }
}

extension RecordingLibrary {
  /// A library in a directory.
  convenience init(
    in directory: TemporaryDirectory, settings: RecordingSettings = RecordingSettings(),
    onProblem: @escaping @Sendable (String) -> Void = { _ in }
  ) throws {
    try self.init(directory: directory.recordings, settings: settings, onProblem: onProblem)
  }

  /// Records steps in groups of 100, and closes the recording.
  @discardableResult
  func record(_ steps: [RecordedStep], room: String = "main") async throws -> RecordingSummary {
    let room = try await LoggedRoom(room, in: self)
    let recorder = try await room.record()
    for start in stride(from: 0, to: steps.count, by: 100) {
      await room.write(steps[start..<min(start + 100, steps.count)])
    }
    return try await recorder.finish(digest: nil, endedAt: 1_700_000_100_000)
  }

  /// Returns the readable steps of a recording, and its damage.
  func readable(_ name: String) async throws -> (steps: [RecordedStep], damage: Damage?) {
    var reader = RecordingReader(try await files(of: name))
    var steps: [RecordedStep] = []
    do throws(RecordingError) {
      while try reader.read(into: &steps) {}
    } catch .damaged(_, let damage) {
      return (steps, damage)
    }
    return (steps, nil)
  }

  func steps(of name: String, from start: Instant? = nil) async throws -> [RecordedStep] {
    var reader = RecordingReader(try await files(of: name), from: start)
    var steps: [RecordedStep] = []
    while try reader.read(into: &steps) {}
    return steps
  }
}

extension RecordingSettings {
  /// - Parameter cataloguePath: in memory unless the catalogue must outlive the library.
  init(on disk: SimulatedDisk, cataloguePath: String = ":memory:") {
    self.init()
    self.disk = disk
    self.cataloguePath = cataloguePath
  }

  /// Settings with segments of a few kilobytes.
  static var small: RecordingSettings {
    var settings = RecordingSettings()
    settings.segmentBytes = 8 << 10
    return settings
  }

  /// Settings with which nothing depends on the time: the log is synced only when awaited, and a
  /// recording only at the end of a segment.
  var syncingRarely: RecordingSettings {
    var settings = self
    (settings.syncNanoseconds, settings.recordingSyncNanoseconds) = (.max / 2, .max / 2)
    return settings
  }

  /// Settings with which a recording is synced whenever something is copied to it.
  var syncingAtOnce: RecordingSettings {
    var settings = syncingRarely
    settings.recordingSyncNanoseconds = 0
    return settings
  }
}

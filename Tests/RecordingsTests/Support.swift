import Foundation
import Glibc
import LiveEvents
import RateLimiting
import Recordings
import SimulatedDisk
import Synchronization
import TestSupport

extension TemporaryDirectory {
  /// Removes everything in it.
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

/// What a library told about problems.
final class Messages: Sendable {
  private let texts = Mutex<[String]>([])
  var all: [String] { texts.withLock { $0 } }
  func add(_ text: String) { texts.withLock { $0.append(text) } }
}

/// A recording by a version that did not number its lines, closed if it has a last line.
struct OldRecording {
  static let name = "main-20231114T221320Z"
  var lines: [String]

  func write(to directory: String, last: String? = nil) throws {
    let header =
      #"{"type":"recording","name":"\#(Self.name)","room":"main","segment":1,"#
      + #""startedAt":1700000000000,"version":1}"#
    let path = directory + "/" + Self.name
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    let text = ([header] + lines + [last].compactMap(\.self)).map { $0 + "\n" }.joined()
    try Data(text.utf8).write(to: URL(fileURLWithPath: path + "/000001.ndjson"))
  }
}

/// The members of the lines of a segment that tie them together, read by another implementation.
struct LineMembers {
  var type: String?
  var number: Int?
  var checksum: String?
  var previous: String?
  /// The line up to the checksum.
  var covered: [UInt8]

  init(_ line: [UInt8]) throws {
    let object = try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any]
    type = object?["type"] as? String
    number = object?["n"] as? Int
    checksum = object?["crc"] as? String
    previous = object?["previous"] as? String
    covered = Array(line.dropLast(#","crc":"01234567"}"#.utf8.count))
  }

  static func of(_ segment: [UInt8]) throws -> [LineMembers] {
    try segment.split(separator: 0x0A).map { try LineMembers(Array($0)) }
  }
}

/// Steps like those of a busy room: batches of events at one instant, with frames in between.
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

extension RecordedBatch {
  init(_ steps: some Sequence<RecordedStep>) {
    self.init()
    for step in steps {
      switch step {
      case .event(let event, let instant): add([event], at: instant)
      case .frame(let instant, let flush): addFrame(at: instant, flush: flush)
      case .change(let text, let instant): addChange(text, at: instant)
      }
    }
  }
}

extension RoomRecorder {
  /// Hands steps over and returns once they are synced.
  func write(_ steps: some Sequence<RecordedStep>) async {
    var batch = RecordedBatch(steps)
    await withCheckedContinuation { continuation in
      batch.whenSynced { continuation.resume() }
      post(batch)
    }
  }
}

extension RecordingLibrary {
  /// Records steps in groups of a hundred and stops.
  @discardableResult
  func record(_ steps: [RecordedStep], room: String = "main") async throws -> RecordingSummary {
    let recorder = try await start(room: room, startedAt: 1_700_000_000_000) { _ in }
    for start in stride(from: 0, to: steps.count, by: 100) {
      await recorder.write(steps[start..<min(start + 100, steps.count)])
    }
    return try await recorder.finish(digest: nil, endedAt: 1_700_000_100_000)
  }

  /// What can be read of a recording, and what is wrong with it.
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
  /// - Parameter cataloguePath: in memory unless it is to survive the library.
  init(on disk: SimulatedDisk, cataloguePath: String = ":memory:") {
    self.init()
    self.disk = disk
    self.cataloguePath = cataloguePath
  }

  /// Segments of a few kilobytes.
  static var small: RecordingSettings {
    var settings = RecordingSettings()
    settings.segmentBytes = 8 << 10
    return settings
  }
}

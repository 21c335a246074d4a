import BenchmarkKit
import Composable
import Foundation
import HostFeature
import HostScreen
import LiveEvents
import RateLimiting
import ViewGraph

/// A host's screen on which all that is frequent happens at once.
func screenBenchmarks(_ harness: Harness) {
  if harness.isWanted("screen.together") { measureTogether(harness) }
}

private let rounds = 5

/// Ten seconds of 4,000 joins, 1,000 messages and 135 steps of a drag per second, 16 meters at 20 Hz,
/// and a gift bomb of 1,000 in the midst of it: how long the lane is held by the longest turn.
private func measureTogether(_ harness: Harness) {
  FileHandle.standardError.write(Data("measuring screen.together\n".utf8))
  var longest: [Double] = []
  var evaluations: [(name: String, count: Int)] = []
  for round in 0...rounds {
    let run = Together()
    run.play()
    // The first round grows tables and buffers.
    if round > 0 { longest.append(Double(run.longestTurn) / 1e6) }
    evaluations = run.evaluations
  }
  harness.report("screen.together", Harness.median(longest), "ms", bar: "< 8 ms")
  for (name, count) in evaluations {
    print("  \(name): \(Double(count) / Double(Together.seconds)) evaluations/s")
  }
}

private final class Together {
  static let seconds = 10

  private let screen: HostScreen
  private(set) var longestTurn: UInt64 = 0
  private var number = 0

  init() {
    screen = HostScreen(lane: SameThread(), framesPerSecond: 60, clock: RealClock())
  }

  var evaluations: [(name: String, count: Int)] {
    screen.views.statistics.map { ($0.key, $0.value.evaluations) }.sorted { $0.name < $1.name }
  }

  /// A turn takes what a millisecond brought, and draws the frame if one is due.
  func play() {
    for millisecond in 0..<(Self.seconds * 1_000) {
      let events = payloads(millisecond).map {
        LiveEvent(timestamp: Timestamp(millisecond), payload: $0)
      }
      let now = Instant.origin + .milliseconds(Int64(millisecond))
      let start = Harness.now()
      for event in events { screen.receive(event, at: now) }
      screen.reduce()
      if let due = screen.nextFrame, due <= now { screen.drawFrame(at: now) }
      longestTurn = max(longestTurn, Harness.now() - start)
    }
  }

  /// What happens in one millisecond, each kind at its even rate.
  private func payloads(_ millisecond: Int) -> [LiveEvent.Payload] {
    func times(_ perSecond: Int) -> Int {
      (millisecond + 1) * perSecond / 1_000 - millisecond * perSecond / 1_000
    }
    var payloads: [LiveEvent.Payload] = []
    for _ in 0..<times(4_000) { payloads.append(.waitingJoin(person())) }
    for _ in 0..<times(1_000) { payloads.append(.chatMessage(message())) }
    for _ in 0..<times(135) {
      payloads.append(.slider(Slider(control: "zoom", phase: .change, value: fraction())))
    }
    if millisecond % 50 == 0 {
      for input in 0..<16 {
        payloads.append(.meter(input: Text("input \(input)"), levels: [Float(fraction())]))
      }
    }
    if millisecond == 5_000 {
      payloads.append(.chatNotice(notice(.giftBomb, count: 1_000)))
      for _ in 0..<1_000 { payloads.append(.chatNotice(notice(.gift, count: 1))) }
    }
    return payloads
  }

  private func message() -> ChatMessage {
    number += 1
    return ChatMessage(
      id: "m\(number)", userID: "u\(number % 3_000)", userName: "name", text: "what a stream")
  }

  private func person() -> Person {
    number += 1
    return Person(id: Text("p\(number)"), name: "name")
  }

  private func notice(_ kind: ChatNotice.Kind, count: Int) -> ChatNotice {
    ChatNotice(kind: kind, user: Person(id: "u1", name: "Ann"), count: count, group: "bomb")
  }

  private func fraction() -> Double {
    number += 1
    return Double(number % 100) / 100
  }

  private struct SameThread: Lane {
    func execute(_ job: @escaping @Sendable () -> Void) { job() }
    var taskExecutor: (any TaskExecutor)? { nil }
  }

  private final class RealClock: ScreenClock {
    var now: UInt64 { Harness.now() }
  }
}

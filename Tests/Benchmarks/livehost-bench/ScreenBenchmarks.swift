import BenchmarkKit
import Composable
import Foundation
import HostFeature
import HostScreen
import LiveEvents
import RateLimiting
import ViewGraph

/// Measures a host's screen while all frequent events occur together, and the cost of one event.
func screenBenchmarks(_ harness: Harness) {
  if harness.isWanted("screen.together") { measureTogether(harness) }
  if harness.isWanted("screen.chat") { measureChat(harness) }
}

/// Measures the cost of a message from its throttle to the frame, without the socket and the
/// decoder, with 1,000 messages per frame from 10,000 viewers.
private func measureChat(_ harness: Harness) {
  FileHandle.standardError.write(Data("measuring screen.chat\n".utf8))
  let frames = 200
  let events = (0..<1_000 * frames).map { number in
    let user = number &* 7919 % 10_000
    return LiveEvent(
      timestamp: 1_700_000_000_000 + Timestamp(number / 100),
      payload: .chat(
        .message(
          ChatMessage(
            id: "m\(number)", userID: "u\(user)", userName: "viewer \(user)",
            text: "hello there, hello there"))))
  }
  var costs: [Double] = []
  let screen = HostScreen(lane: SameThread(), framesPerSecond: 60, clock: RealClock())
  var now = Instant.origin
  for round in 0...rounds {
    let start = Harness.now()
    for frame in 0..<frames {
      now = now + .milliseconds(17)
      for event in events[frame * 1_000..<(frame + 1) * 1_000] { screen.receive(event, at: now) }
      screen.reduce()
      screen.drawFrame(at: now, flush: true, adapting: false)
    }
    if round > 0 { costs.append(Double(Harness.now() - start) / Double(events.count)) }
  }
  harness.report("screen.chat", Harness.median(costs), "ns/message")
}

private let rounds = 5

/// Measures the longest turn of the lane in ten seconds with 4,000 joins, 1,000 messages and 135
/// steps
/// of a drag per second, 16 meters at 20 Hz, and one gift bomb of 1,000.
private func measureTogether(_ harness: Harness) {
  FileHandle.standardError.write(Data("measuring screen.together\n".utf8))
  var turns: [Together.Turn] = []
  var evaluations: [(name: String, count: Int)] = []
  for round in 0...rounds {
    let run = Together()
    run.play()
    // The first round grows tables and buffers.
    if round > 0 { turns.append(run.longest) }
    evaluations = run.evaluations
  }
  harness.report(
    "screen.together", Harness.median(turns.map { Double($0.nanoseconds) / 1e6 }), "ms",
    bar: "< 8 ms")
  for turn in turns {
    print("  longest turn: \(turn)")
  }
  for (name, count) in evaluations {
    print("  \(name): \(Double(count) / Double(Together.seconds)) evaluations/s")
  }
}

private final class Together {
  static let seconds = 10

  private let screen: HostScreen
  private(set) var longest = Turn()

  /// One turn of the lane and its parts.
  struct Turn: CustomStringConvertible {
    var millisecond = 0
    var events = 0
    var received: UInt64 = 0
    var reduced: UInt64 = 0
    var drawn: UInt64 = 0
    var nanoseconds: UInt64 { received + reduced + drawn }

    var description: String {
      "\(nanoseconds / 1_000) us at \(millisecond) ms, \(events) events: received in "
        + "\(received / 1_000), reduced in \(reduced / 1_000), drawn in \(drawn / 1_000)"
    }
  }

  private var number = 0

  init() {
    screen = HostScreen(lane: SameThread(), framesPerSecond: 60, clock: RealClock())
  }

  var evaluations: [(name: String, count: Int)] {
    screen.views.statistics.map { ($0.key, $0.value.evaluations) }.sorted { $0.name < $1.name }
  }

  /// Runs a turn, which handles the events of a millisecond and draws a frame if one is due.
  func play() {
    for millisecond in 0..<(Self.seconds * 1_000) {
      let events = payloads(millisecond).map {
        LiveEvent(timestamp: Timestamp(millisecond), payload: $0)
      }
      let now = Instant.origin + .milliseconds(Int64(millisecond))
      let start = Harness.now()
      for event in events { screen.receive(event, at: now) }
      let received = Harness.now()
      screen.reduce()
      let reduced = Harness.now()
      if let due = screen.nextFrame, due <= now { screen.drawFrame(at: now) }
      let turn = Turn(
        millisecond: millisecond, events: events.count, received: received - start,
        reduced: reduced - received, drawn: Harness.now() - reduced)
      if turn.nanoseconds > longest.nanoseconds { longest = turn }
    }
  }

  /// Returns the events of one millisecond. Each kind has a constant rate.
  private func payloads(_ millisecond: Int) -> [LiveEvent.Payload] {
    func times(_ perSecond: Int) -> Int {
      (millisecond + 1) * perSecond / 1_000 - millisecond * perSecond / 1_000
    }
    var payloads: [LiveEvent.Payload] = []
    for _ in 0..<times(4_000) { payloads.append(.waitingRoom(.join(person()))) }
    for _ in 0..<times(1_000) { payloads.append(.chat(.message(message()))) }
    for _ in 0..<times(135) {
      payloads.append(.control(.slider(Slider(control: "zoom", phase: .change, value: fraction()))))
    }
    if millisecond % 50 == 0 {
      for input in 0..<16 {
        payloads.append(
          .control(.meter(input: Text("input \(input)"), levels: [Float(fraction())])))
      }
    }
    if millisecond == 5_000 {
      payloads.append(.chat(.notice(notice(.giftBomb, count: 1_000))))
      for _ in 0..<1_000 { payloads.append(.chat(.notice(notice(.gift, count: 1)))) }
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

}

private struct SameThread: Lane {
  func execute(_ job: @escaping @Sendable () -> Void) { job() }
  var taskExecutor: (any TaskExecutor)? { nil }
}

private final class RealClock: EvaluationClock {
  var now: UInt64 { Harness.now() }
}

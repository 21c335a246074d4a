import Intake
import LiveEvents
import RateLimiting
import TestSupport
import Testing
import WaitingRoomFeature

@Suite struct WaitingRoomIntakeTests {
  private typealias Output = IntakeOutput<WaitingRoomFeature.Action>

  private func person(_ id: Int) -> Person { Person(id: Text("p\(id)"), name: Text("P\(id)")) }

  @Test func `what happens in one frame is one action in order`() {
    var intake = WaitingRoomIntake(policies(.waitingRoom, .milliseconds(16)))
    var output = Output()
    let payloads: [LiveEvent.Payload] = [
      .waitingRoom(.join(person(1))), .waitingRoom(.join(person(2))),
      .waitingRoom(.leave(person(1))),
      .waitingRoom(.admitted(person(2))),
    ]
    for payload in payloads {
      intake.receive(LiveEvent(timestamp: 0, payload: payload), at: .origin, into: &output)
    }
    #expect(output.actions.isEmpty)
    #expect(intake.pending == 4)
    #expect(intake.deadline == .origin + .milliseconds(16))
    intake.wake(at: .origin + .milliseconds(16), into: &output)
    #expect(
      output.actions == [
        .changed([
          .joined(person(1)), .joined(person(2)), .left(person(1)), .admitted(person(2)),
        ])
      ])
    #expect(output.applied == 4)
    #expect(intake.pending == 0)
  }

  @Test func `long names are delivered early, whatever the policy`() {
    var intake = WaitingRoomIntake(policies(.waitingRoom, .seconds(3600), capacity: 1_000_000))
    var output = Output()
    let name = Text(String(repeating: "n", count: EventLimits.nameLength))
    let count = HeldBytes.limit / EventLimits.nameLength
    for id in 0..<2 * count {
      let payload = LiveEvent.Payload.waitingRoom(.join(Person(id: Text("\(id)"), name: name)))
      intake.receive(LiveEvent(timestamp: 0, payload: payload), at: .origin, into: &output)
      #expect(intake.pending <= count)
    }
    #expect(output.actions.count == 2)
  }

  /// Every event is accounted for at any instant, and the output is the input, in order.
  @Test(arguments: 1...20) func `nothing is lost and nothing overtakes`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var intake = WaitingRoomIntake(policies(.waitingRoom, .milliseconds(16), capacity: 10))
    var output = Output()
    var now = Instant.origin
    var sent: [WaitingRoomFeature.Change] = []
    for id in 0..<2_000 {
      now = now + .microseconds(Int64.random(in: 0..<4_000, using: &random))
      let payload: LiveEvent.Payload
      switch Int.random(in: 0..<3, using: &random) {
      case 0:
        payload = .waitingRoom(.join(person(id)))
        sent.append(.joined(person(id)))
      case 1:
        payload = .waitingRoom(.leave(person(id)))
        sent.append(.left(person(id)))
      default:
        payload = .waitingRoom(.admitted(person(id)))
        sent.append(.admitted(person(id)))
      }
      intake.receive(LiveEvent(timestamp: 0, payload: payload), at: now, into: &output)
      if Int.random(in: 0..<3, using: &random) == 0 { intake.wake(at: now, into: &output) }
      #expect(output.applied + output.coalesced + intake.pending == id + 1)
    }
    intake.flush(at: now, into: &output)
    let came = output.actions.flatMap { action -> [WaitingRoomFeature.Change] in
      switch action {
      case .changed(let changes): changes
      case .admitNextTapped, .admitAllTapped, .admitPersonTapped, .capacityChanged, .paceChanged,
        .scheduled,
        .ticked, .delegate:
        []
      }
    }
    #expect(came == sent)
  }
}

extension WaitingRoomIntake {
  /// Takes an event of the part as the host routes it.
  fileprivate mutating func receive(
    _ event: LiveEvent, at now: Instant, into output: inout IntakeOutput<Action>
  ) {
    guard case .waitingRoom(let part) = event.payload else {
      Issue.record("an event of another part")
      return
    }
    receive(part, timestamp: event.timestamp, at: now, into: &output)
  }
}

/// Policies with one that differs from the default.
private func policies(
  _ kind: ThrottledKind, _ interval: Interval, capacity: Int = ThrottlePolicies.standardCapacity
) -> ThrottlePolicies {
  var policies = ThrottlePolicies()
  policies[kind] = ThrottlePolicies.Pacing(interval: interval, capacity: capacity)
  return policies
}

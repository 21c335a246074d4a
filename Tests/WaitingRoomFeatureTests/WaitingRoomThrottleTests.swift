import LiveEvents
import RateLimiting
import TestSupport
import Testing
import Throttling
import WaitingRoomFeature

@Suite struct WaitingRoomThrottleTests {
  private typealias Output = ThrottleOutput<WaitingRoomFeature.Action>

  private func person(_ id: Int) -> Person { Person(id: Text("p\(id)"), name: Text("P\(id)")) }

  @Test func `all changes of the waiting room in a frame are one action, in order`() {
    var throttle = WaitingRoomThrottle(
      ThrottlePolicies([.waitingRoom: .init(interval: .milliseconds(16))]))
    var output = Output()
    let events: [WaitingRoomEvent] = [
      .join(person(1)), .join(person(2)),
      .leave(person(1)),
      .admitted(person(2)),
    ]
    for event in events {
      throttle.receive(event, timestamp: 0, at: .origin, into: &output)
    }
    #expect(output.actions.isEmpty)
    #expect(throttle.pending == 4)
    #expect(throttle.deadline == .origin + .milliseconds(16))
    throttle.wake(at: .origin + .milliseconds(16), into: &output)
    #expect(
      output.actions == [
        .changed([
          .joined(person(1)), .joined(person(2)), .left(person(1)), .admitted(person(2)),
        ])
      ])
    #expect(output.applied == 4)
    #expect(throttle.pending == 0)
  }

  @Test
  func `changes of the waiting room with long names are delivered early under any throttle policy`()
  {
    var throttle = WaitingRoomThrottle(
      ThrottlePolicies([.waitingRoom: .init(interval: .seconds(3600), capacity: 1_000_000)]))
    var output = Output()
    let name = Text(String(repeating: "n", count: EventLimits.nameLength))
    let count = HeldBytes.limit / EventLimits.nameLength
    for id in 0..<2 * count {
      let event = WaitingRoomEvent.join(Person(id: Text("\(id)"), name: name))
      throttle.receive(event, timestamp: 0, at: .origin, into: &output)
      #expect(throttle.pending <= count)
    }
    #expect(output.actions.count == 2)
  }

  /// Every event is accounted for at all times, and the output is the input, in order.
  @Test(arguments: 1...20)
  func `the throttle of the waiting room keeps all changes, and keeps them in order`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var throttle = WaitingRoomThrottle(
      ThrottlePolicies([.waitingRoom: .init(interval: .milliseconds(16), capacity: 10)]))
    var output = Output()
    var now = Instant.origin
    var sent: [WaitingRoomFeature.Change] = []
    for id in 0..<2_000 {
      now = now + .microseconds(Int64.random(in: 0..<4_000, using: &random))
      let event: WaitingRoomEvent
      switch Int.random(in: 0..<3, using: &random) {
      case 0:
        event = .join(person(id))
        sent.append(.joined(person(id)))
      case 1:
        event = .leave(person(id))
        sent.append(.left(person(id)))
      default:
        event = .admitted(person(id))
        sent.append(.admitted(person(id)))
      }
      throttle.receive(event, timestamp: 0, at: now, into: &output)
      if Int.random(in: 0..<3, using: &random) == 0 { throttle.wake(at: now, into: &output) }
      #expect(output.applied + output.coalesced + throttle.pending == id + 1)
    }
    throttle.flush(at: now, into: &output)
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

import HangSimulation
import LiveEvents
import Simulation
import Testing
import WireFormats

/// The events of a scenario after its faults, without a screen.
@Suite struct FeedTests {
  private func scenario(
    _ events: String, faults: String = "", seed: UInt64 = 1
  ) throws -> Scenario {
    try Scenario(
      """
      name: feed
      duration: 60s
      devices: [fast]
      events:
      \(events)
      \(faults)
      """, options { $0.seed = seed })
  }

  private func arrivals(
    _ events: String, faults: String = "", seed: UInt64 = 1, until seconds: Int64 = 60
  ) throws -> [(delivery: Delivery<LiveEvent>, arrival: VirtualTime)] {
    var feed = EventFeed(try scenario(events, faults: faults, seed: seed))
    var arrivals: [(Delivery<LiveEvent>, VirtualTime)] = []
    feed.receive(until: .seconds(seconds)) { arrivals.append(($0, $1)) }
    return arrivals
  }

  private static let everyKind = """
      - {generate: chat.message, rate: 5/s, late: 16%}
      - {generate: chat.delete, rate: 6/m}
      - {generate: chat.clear, rate: 1/m}
      - {generate: chat.timeout, rate: 6/m, seconds: 600}
      - {generate: chat.notice, kind: giftBomb, size: 20, within: 3s, rate: 4/m}
      - {generate: chat.modes, rate: 2/m}
      - {generate: reaction, rate: 10/s}
      - {generate: viewers, arrival: even, rate: 1/s}
      - {generate: title, rate: 1/m}
      - {generate: slider, rate: 10/m}
      - {generate: tap, rate: 10/m}
      - {generate: stats, arrival: even, rate: 1/s}
      - {generate: meter, arrival: even, rate: 20/s}
      - {generate: recorder.state, rate: 2/m}
      - {generate: recorder.progress, arrival: even, rate: 2/s}
      - {generate: waiting.join, rate: 1/s}
      - {generate: waiting.leave, rate: 6/m}
      - {generate: waiting.admit, rate: 20/m}
      - {generate: stream, rate: 1/m}
      - {event: {type: title, title: "Once"}, at: [10s, 20s]}
      - {generate: poll.begin, at: [5s]}
      - {generate: follow, rate: 6/m}
      - {generate: redemption, rate: 6/m}
      - {generate: source.state, arrival: even, rate: 6/m}
      - {generate: gap, rate: 2/m}
    """

  private func bytes(seed: UInt64) throws -> [UInt8] {
    var bytes: [UInt8] = []
    for (delivery, _) in try arrivals(Self.everyKind, seed: seed) {
      NativeEncoder.append(delivery.event, room: .main, to: &bytes)
    }
    return bytes
  }

  @Test func `equal seeds generate equal events, and another seed generates others`() throws {
    #expect(try bytes(seed: 1) == bytes(seed: 1))
    #expect(try bytes(seed: 1) != bytes(seed: 2))
  }

  @Test func `generated events are the same on every machine and in every process`() throws {
    // FNV-1a, 64 bits.
    let hash = try bytes(seed: 42).reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01B3
    }
    #expect(hash == 12_619_737_967_113_128_801)
  }

  @Test func `every type of event can be generated`() throws {
    var types: Set<String> = []
    for (delivery, _) in try arrivals(Self.everyKind) {
      types.insert(delivery.event.payload.nativeType)
    }
    #expect(types.count == 26)
  }

  @Test func `generated events arrive in order, and never before their intended time`() throws {
    let arrivals = try arrivals(Self.everyKind)
    #expect(zip(arrivals, arrivals.dropFirst()).allSatisfy { $0.arrival <= $1.arrival })
    #expect(arrivals.allSatisfy { $0.delivery.intended <= $0.arrival })
  }

  @Test
  func `events that arrive evenly have constant intervals, and a feed runs stage after stage`()
    throws
  {
    let times = try arrivals(
      "  - {generate: title, arrival: even, from: 1s, stages: [{rate: 2/s, for: 2s}, {rate: 0/s, for: 5s}, {rate: 1/s, for: 2s}]}"
    ).map(\.arrival.milliseconds)
    #expect(times == [1_000, 1_500, 2_000, 2_500, 8_000, 9_000])
  }

  @Test func `independent arrivals have the requested rate`() throws {
    let count = try arrivals("  - {generate: reaction, rate: 100/s}").count
    #expect(abs(count - 6_000) < 300)
  }

  @Test func `the chosen share of events arrives late, with the original timestamps`()
    throws
  {
    let arrivals = try arrivals(
      "  - {generate: chat.message, rate: 100/s, late: 16%, lateBy: 400ms}")
    let late = arrivals.filter {
      $0.arrival.milliseconds > $0.delivery.event.timestamp - 1_767_225_600_000
    }
    #expect(abs(late.count * 100 / arrivals.count - 16) <= 3)
    let longest = late.map {
      $0.arrival.milliseconds - ($0.delivery.event.timestamp - 1_767_225_600_000)
    }.max()
    #expect((300...401).contains(longest ?? 0))
  }

  @Test func `a generated gift bomb is one announcement with its late gifts, all in one group`()
    throws
  {
    let arrivals = try arrivals(
      "  - {generate: chat.notice, kind: giftBomb, size: 1000, within: 3s, at: 5s}")
    #expect(arrivals.count == 1_001)
    var groups: Set<Text?> = []
    var kinds: [ChatNotice.Kind: Int] = [:]
    for (delivery, _) in arrivals {
      guard case .chat(.notice(let notice)) = delivery.event.payload else { continue }
      groups.insert(notice.group)
      kinds[notice.kind, default: 0] += 1
    }
    #expect(groups.count == 1)
    #expect(kinds == [.giftBomb: 1, .gift: 1_000])
    #expect(arrivals.last.map { $0.arrival > .milliseconds(7_500) } == true)
  }

  @Test func `generated drags have the rates of real drags`() throws {
    var rates: [Int64] = []
    var begin = VirtualTime.zero
    var changes: Int64 = 0
    for (delivery, time) in try arrivals(
      "  - {generate: slider, controls: zoom, arrival: even, rate: 6/m}", until: 60)
    {
      guard case .control(.slider(let slider)) = delivery.event.payload else { continue }
      switch slider.phase {
      case .begin: (begin, changes) = (time, 0)
      case .change: changes += 1
      case .end: rates.append(changes * 1_000 / max(1, (time - begin).milliseconds))
      }
      #expect((0...1).contains(slider.value))
    }
    #expect(rates.count >= 5)
    #expect(rates.allSatisfy { (10...135).contains($0) })
  }

  @Test func `a generated poll has a question, totals that never decrease, and the right winner`()
    throws
  {
    let arrivals = try arrivals("  - {generate: poll.begin, at: 5s}")
    var open: (id: Text, totals: [Int])?
    var winners: Set<Int?> = []
    for (delivery, _) in arrivals {
      guard case .poll(let event) = delivery.event.payload else { continue }
      switch event {
      case .begin(let question):
        #expect(open == nil)
        open = (question.id, question.options.map { _ in 0 })
      case .votes(let id, let totals):
        #expect(id == open?.id)
        #expect(zip(open?.totals ?? [], totals).allSatisfy { $0 <= $1 })
        #expect(totals.count == open?.totals.count)
        open?.totals = totals
      case .end(let id, let winner):
        #expect(id == open?.id)
        if let winner { #expect(open?.totals[winner] == open?.totals.max()) }
        winners.insert(winner)
        open = nil
      }
    }
    #expect(arrivals.count == 32)
    #expect(open == nil && winners.count == 1)
  }

  // MARK: Faults

  private static let steady = "  - {generate: title, arrival: even, rate: 10/s}"

  @Test func `a stall holds back generated events and releases them all at its end`() throws {
    let arrivals = try arrivals(Self.steady, faults: "faults: [{kind: stall, at: 10s, for: 2s}]")
    let held = arrivals.filter { $0.arrival != $0.delivery.intended }
    #expect(held.count == 20)
    #expect(held.allSatisfy { $0.arrival == .seconds(12) })
  }

  @Test func `a burst multiplies the rate of generated events`() throws {
    let arrivals = try arrivals(
      Self.steady, faults: "faults: [{kind: burst, at: 10s, for: 2s, times: 10}]")
    #expect(
      arrivals.count { $0.arrival >= .seconds(10) && $0.arrival < .milliseconds(10_200) } == 20)
    #expect(
      arrivals.count { $0.arrival >= .milliseconds(10_200) && $0.arrival < .seconds(12) } == 0)
    #expect(arrivals.count == 601)
  }

  @Test func `reordering delays each generated event by a different time`() throws {
    let arrivals = try arrivals(
      Self.steady, faults: "faults: [{kind: reorder, at: 10s, for: 2s, by: 1s}]")
    let times = arrivals.map(\.delivery.event.timestamp)
    #expect(zip(times, times.dropFirst()).contains { $0 > $1 })
    #expect(arrivals.count == 601)
  }

  @Test func `the chosen shares of events are dropped and duplicated`() throws {
    let dropped = try arrivals(
      Self.steady, faults: "faults: [{kind: drop, at: 10s, for: 2s, share: 100%}]")
    #expect(dropped.count == 581)
    let doubled = try arrivals(
      Self.steady, faults: "faults: [{kind: duplicate, at: 10s, for: 2s, share: 100%}]")
    #expect(doubled.count == 621)
  }

  @Test func `after a lost connection, missed events arrive, and some events arrive again`()
    throws
  {
    let arrivals = try arrivals(
      Self.steady, faults: "faults: [{kind: reconnect, at: 10s, for: 2s, replay: 1s}]")
    #expect(arrivals.count { $0.arrival == .seconds(12) } == 31)
    #expect(arrivals.count == 611)
  }
}

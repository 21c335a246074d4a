import Composable
import ComposableTesting
import Foundation
import HeaderFeature
import HostFeature
import HostScreen
import LiveEvents
import RateLimiting
import TestSupport
import Testing

/// Restarts and replays of a screen whose events come from several sources.
struct SeveralSourcesTests {
  private struct Events {
    var random: SplitMix64
    let origins: [Origin]
    private var number = 0

    init(seed: UInt64) {
      random = SplitMix64(seed: seed)
      origins = (0..<random.pick(2..<5)).map {
        Origin(platform: Text("p\($0)"), source: Text("s\($0)"))
      }
    }

    /// Returns the next event, a second after the previous one.
    mutating func next() -> LiveEvent {
      number += 1
      let index = random.pick(0..<origins.count)
      return LiveEvent(
        timestamp: Timestamp(number * 1_000), payload: payload(index), origin: origins[index])
    }

    private mutating func payload(_ index: Int) -> LiveEvent.Payload {
      switch random.pick(0..<20) {
      case 0..<6: .header(.viewers(count: random.pick(0..<900)))
      case 6: .header(.title(Text("title \(number)")))
      case 7: .header(.category(Text("game \(number)")))
      case 8, 9: .stream(StreamState.allCases[random.pick(0..<4)])
      case 10..<13:
        .liveRoomStats(StreamStatistics(congestion: Double(random.pick(0..<9)) / 9))
      case 13:
        .source(
          .state(
            SourceHealth(
              source: Text("s\(index)"),
              state: SourceHealth.Connection.allCases[random.pick(0..<5)])))
      case 14: .poll(.begin(PollQuestion(id: "p", title: "title", options: ["a", "b"])))
      case 15..<18: .poll(.votes(pollID: "p", totals: [number, random.pick(0..<9)]))
      default: .header(.reaction(kind: "heart", count: 1))
      }
    }
  }

  private func screen(restoring snapshot: ScreenSnapshot? = nil) -> HostScreen {
    HostScreen(
      lane: DirectLane(), framesPerSecond: 60, clock: StillClock(), restoring: snapshot)
  }

  private func time(_ step: Int) -> Instant { .origin + .seconds(Int64(step)) }

  @Test(arguments: 0..<40 as Range<UInt64>)
  func `a screen that is restored at any time continues as if it had not stopped`(seed: UInt64)
    throws
  {
    var events = Events(seed: seed)
    let original = screen()
    var copy = screen()
    for step in 1...600 {
      let event = events.next()
      let isCut = events.random.oneIn(50)
      for screen in [original, copy] {
        screen.receive(event, at: time(step))
        screen.reduce()
        screen.drawFrame(at: time(step) + .milliseconds(20), flush: isCut)
      }
      guard isCut else { continue }
      let bytes = try JSONEncoder().encode(copy.snapshot)
      let snapshot = try JSONDecoder().decode(ScreenSnapshot.self, from: bytes)
      try snapshot.checkBounds()
      copy = screen(restoring: snapshot)
    }
    #expect(copy.store.state == original.store.state)
    #expect(copy.counts == original.counts)
  }

  @Test(arguments: 0..<40 as Range<UInt64>)
  func `a replay with other batches gives the same screen`(seed: UInt64) {
    var events = Events(seed: seed)
    let (live, replay) = (screen(), screen())
    for step in 1...400 {
      for number in 0..<5 {
        let event = events.next()
        let now = time(step) + .milliseconds(Int64(number))
        live.receive(event, at: now)
        replay.receive(event, at: now)
        replay.reduce()
      }
      live.reduce()
      for screen in [live, replay] { screen.drawFrame(at: time(step) + .milliseconds(20)) }
    }
    #expect(live.store.state == replay.store.state)
    #expect(live.counts == replay.counts)
  }
}

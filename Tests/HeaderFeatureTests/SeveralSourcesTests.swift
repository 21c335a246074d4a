import Composable
import Foundation
import HeaderFeature
import LiveEvents
import Testing

/// The header of a room whose events come from several sources.
@Suite struct SeveralSourcesTests {
  private let twitch = Origin(platform: "twitch", source: "twitch")
  private let youtube = Origin(platform: "youtube", source: "youtube")
  private let owncast = Origin(platform: "owncast", source: "owncast")

  private func state(after actions: [HeaderFeature.Action]) -> HeaderFeature.State {
    var state = HeaderFeature.State()
    for action in actions { _ = HeaderFeature().reduce(into: &state, action: action) }
    return state
  }

  private func viewers(_ count: Int, _ origin: Origin) -> HeaderFeature.Action {
    .viewersChanged(count: count, peak: count, from: origin)
  }

  /// One tick per second in `seconds`.
  private func ticks(_ seconds: ClosedRange<Int64>) -> [HeaderFeature.Action] {
    seconds.map { .ticked(at: $0 * 1_000) }
  }

  @Test(arguments: 2...5)
  func `the number of viewers is the sum over all sources, and the peak is its maximum`(
    sources: Int
  ) {
    let origins = (0..<sources).map { Origin(platform: Text("p\($0)"), source: "s") }
    var state = state(after: origins.map { viewers(10, $0) })
    #expect(state.viewers == 10 * sources && state.peakViewers == 10 * sources)
    let high = HeaderFeature.Action.viewersChanged(count: 4, peak: 90, from: origins[0])
    _ = HeaderFeature().reduce(into: &state, action: high)
    #expect(state.viewers == 10 * (sources - 1) + 4)
    #expect(state.peakViewers == 10 * (sources - 1) + 90, "the peak was never shown")
    #expect(state.parts?.map(\.origin) == origins)
  }

  @Test func `a room with a single source keeps no parts, whether or not the source has a name`() {
    for origin in [Origin.none, twitch] {
      let state = state(
        after: [
          .titleChanged("One", from: origin), viewers(7, origin),
          .streamChanged(.live, at: 0, from: origin), viewers(5, origin),
        ] + ticks(1...900))
      #expect(state.parts == nil && state.bookkeeping == nil)
      #expect(state.viewers == 5 && state.peakViewers == 7 && state.phase == .live)
      #expect(!state.isAging)
    }
  }

  @Test func `a saved header of events without a source has the same members as before`() throws {
    let state = state(
      after: [.titleChanged("One"), .viewersChanged(count: 5, peak: 7), .ticked(at: 1)])
    let members = try #require(
      JSONSerialization.jsonObject(with: JSONEncoder().encode(state)) as? [String: Any])
    #expect(
      Set(members.keys) == [
        "title", "viewers", "peakViewers", "likes", "durationMilliseconds", "viewersSampler",
      ])
  }

  @Test func `the title is that of the source that went live first, or else the newest title`() {
    var actions: [HeaderFeature.Action] = [
      .titleChanged("T", from: twitch), .titleChanged("Y", from: youtube),
    ]
    #expect(state(after: actions).title == "Y")
    actions += [.streamChanged(.live, at: 1, from: owncast)]
    #expect(state(after: actions).title == "Y", "the live source has no title")
    actions += [.streamChanged(.live, at: 2, from: twitch)]
    actions += [.streamChanged(.live, at: 3, from: youtube), .titleChanged("Y2", from: youtube)]
    #expect(state(after: actions).title == "T")
    actions += [
      .categoryChanged("Art", from: youtube), .streamChanged(.paused, at: 4, from: twitch),
    ]
    #expect(state(after: actions).title == "T", "a paused stream is still on the air")
    #expect(state(after: actions).category == "Art", "only one source has a category")
    actions += [.streamChanged(.ended, at: 5, from: twitch)]
    #expect(state(after: actions).title == "Y2")
  }

  @Test func `a room is live while any of its sources is live`() {
    var actions: [HeaderFeature.Action] = [
      .streamChanged(.live, at: 1_000, from: twitch),
      .streamChanged(.live, at: 5_000, from: youtube),
      .streamChanged(.ended, at: 9_000, from: twitch),
    ]
    #expect(state(after: actions).phase == .live)
    #expect(state(after: actions).liveSince == 1_000)
    #expect(state(after: actions).durationMilliseconds == 8_000)
    actions += [.streamChanged(.paused, at: 10_000, from: youtube)]
    #expect(state(after: actions).phase == .paused)
    actions += [.streamChanged(.ended, at: 11_000, from: youtube)]
    #expect(state(after: actions).phase == .ended)
    #expect(state(after: actions).durationMilliseconds == 10_000)
    actions += [.streamChanged(.waiting, at: 20_000, from: twitch)]
    #expect(state(after: actions).phase == .waiting, "the newest report")
  }

  @Test func `the host ends the streams of all sources together`() {
    let state = state(after: [
      .streamChanged(.live, at: 1_000, from: twitch),
      .streamChanged(.live, at: 2_000, from: youtube), .streamsEnded(at: 3_000),
    ])
    #expect(state.phase == .ended)
    #expect(state.parts?.map(\.phase) == [.ended, .ended])
  }

  @Test func `a source that ends is stale for 30 seconds, and then leaves the sum`() {
    let live: [HeaderFeature.Action] =
      [
        .streamChanged(.live, at: 0, from: twitch), viewers(10, twitch),
        .streamChanged(.live, at: 0, from: youtube), viewers(3, youtube), .ticked(at: 1_000),
        .streamChanged(.ended, at: 1_000, from: youtube),
      ]
    let stale = state(after: live + ticks(2...30))
    #expect(stale.viewers == 13 && stale.parts?.map(\.standing) == [.current, .stale])
    #expect(stale.isAging)
    let gone = state(after: live + ticks(2...31))
    #expect(gone.viewers == 10 && gone.parts?.map(\.standing) == [.current, .gone])
    #expect(gone.peakViewers == 13)
    let back = state(
      after: live + ticks(2...31) + [.streamChanged(.live, at: 40_000, from: youtube)])
    #expect(back.viewers == 13)
  }

  @Test func `a source becomes stale after 150 seconds of silence, and its next event restores it`()
  {
    let actions = [viewers(10, twitch), viewers(3, youtube)]
    // Twitch keeps reporting.
    func seconds(_ count: Int64) -> [HeaderFeature.Action] {
      (1...count).flatMap { [viewers(10, twitch), .ticked(at: $0 * 1_000)] }
    }
    #expect(state(after: actions + seconds(150)).parts?.last?.standing == .current)
    #expect(state(after: actions + seconds(151)).parts?.last?.standing == .stale)
    #expect(state(after: actions + seconds(180)).viewers == 13)
    #expect(state(after: actions + seconds(181)).viewers == 10)
    #expect(state(after: actions + seconds(181) + [viewers(4, youtube)]).viewers == 14)
  }

  @Test func `a source that reports to be connected is never silent, and one that ended is stale`()
  {
    var state = state(after: [viewers(10, twitch), viewers(3, youtube), .ticked(at: 0)])
    func run(_ seconds: ClosedRange<Int64>, _ youtube: SourceHealth.Connection) {
      for tick in ticks(seconds) {
        state.setConnections { $0 == "youtube" ? youtube : .live }
        _ = HeaderFeature().reduce(into: &state, action: tick)
      }
    }
    run(1...900, .behind)
    #expect(state.viewers == 13 && !state.isAging)
    run(901...902, .ended)
    #expect(state.parts?.last?.standing == .stale && state.isAging)
    run(903...940, .refused)
    #expect(state.viewers == 10 && !state.isAging)
  }

  @Test func `a source that was live and is gone no longer keeps the room live`() {
    var state = state(after: [
      .streamChanged(.live, at: 0, from: twitch), .streamChanged(.live, at: 0, from: youtube),
      .streamChanged(.ended, at: 0, from: twitch), .ticked(at: 0),
    ])
    for tick in ticks(1...300) { _ = HeaderFeature().reduce(into: &state, action: tick) }
    #expect(state.phase == .live, "silence alone ends no stream")
    state.setConnections { $0 == "youtube" ? .ended : .live }
    for tick in ticks(301...302) { _ = HeaderFeature().reduce(into: &state, action: tick) }
    #expect(state.phase == .ended)
  }

  @Test func `if only one of several sources reports viewers, its count stays when it ends`() {
    let state = state(
      after: [
        .streamChanged(.live, at: 0, from: owncast), viewers(10, twitch), .ticked(at: 0),
        .streamChanged(.ended, at: 0, from: twitch),
      ] + ticks(1...300))
    #expect(state.viewers == 10)
  }

  @Test func `figures without a source do not count beside a named source until the next event`() {
    // The figures may be from a snapshot of a version that did not record sources.
    var actions: [HeaderFeature.Action] = [
      .titleChanged("Old"), .viewersChanged(count: 500, peak: 600), .streamChanged(.live, at: 0),
      viewers(510, twitch),
    ]
    #expect(state(after: actions).viewers == 510)
    #expect(state(after: actions).peakViewers == 600)
    #expect(state(after: actions).title == "Old" && state(after: actions).phase == .live)
    #expect(state(after: actions + ticks(1...900)).viewers == 510)
    actions += [.viewersChanged(count: 7, peak: 7)]
    #expect(state(after: actions).viewers == 517)
    #expect(state(after: actions).peakViewers == 600)
  }

  @Test func `a wrong time far in the future makes no source stale`() {
    let actions = [viewers(10, twitch), viewers(3, youtube)] + ticks(1...3)
    let state = state(after: actions + [.ticked(at: 4_102_444_800_000)] + ticks(4...10))
    #expect(state.parts?.map(\.standing) == [.current, .current])
    _ = self.state(after: actions + [.ticked(at: .min), .ticked(at: .max), .ticked(at: .min)])
  }

  @Test func `of more than 16 sources, the others are counted until one of the 16 is gone`() {
    let origins = (0..<18).map { Origin(platform: "many", source: Text("s\($0)")) }
    var actions = origins.map { viewers(1, $0) }
    #expect(state(after: actions).viewers == 16)
    #expect(state(after: actions).bookkeeping?.omitted == 2)
    actions += [.ticked(at: 0), .streamChanged(.ended, at: 0, from: origins[3])] + ticks(1...30)
    #expect(state(after: actions).viewers == 15)
    actions += [viewers(5, origins[17]), .streamChanged(.live, at: 0, from: origins[16])]
    let state = state(after: actions)
    #expect(state.viewers == 20 && state.parts?.count == 16)
    #expect(state.phase == .ended, "the phase of an omitted source does not count")
    #expect(throws: Never.self) { try state.checkBounds() }
  }

  @Test func `a saved header with several sources restores equal, and a forged one is refused`()
    throws
  {
    var state = state(
      after: [
        .titleChanged("T", from: twitch), viewers(3, youtube),
        .streamChanged(.ended, at: 5, from: youtube),
      ] + ticks(1...9))
    let copy = try JSONDecoder().decode(
      HeaderFeature.State.self, from: JSONEncoder().encode(state))
    #expect(copy == state)
    try copy.checkBounds()
    state.parts?[0].viewers = -1
    #expect(throws: OutOfBounds.self) { try state.checkBounds() }
    state.parts = [state.parts?[1]].compactMap(\.self)
    #expect(throws: OutOfBounds.self) { try state.checkBounds() }
  }
}

import Gateway
import LiveEvents
import Testing

@Suite struct SourceConnectionsTests {
  private let main = RoomName("main")!

  private func state(_ state: SourceHealth.Connection) -> LiveEvent {
    let health = SourceHealth(source: "irc", state: state, platform: "twitch", lost: 3)
    return LiveEvent(timestamp: 1, payload: .source(.state(health)))
  }

  @Test func `a source whose connection ends is reported as ended, with its last counts`() {
    var sources = SourceConnections()
    sources.connect("irc", in: main)
    sources.record([state(.connecting), state(.live)], in: main)
    let health = sources.disconnect("irc", in: main)
    #expect(health?.state == .ended && health?.lost == 3 && health?.platform == "twitch")
    #expect(sources.disconnect("irc", in: main) == nil)
  }

  @Test
  func `no end is reported for a source that has another connection or reported its own end`() {
    var sources = SourceConnections()
    sources.connect("irc", in: main)
    sources.record([state(.live)], in: main)
    sources.connect("irc", in: main)
    #expect(sources.disconnect("irc", in: main) == nil)
    sources.record([state(.refused)], in: main)
    #expect(sources.disconnect("irc", in: main) == nil)
  }
}

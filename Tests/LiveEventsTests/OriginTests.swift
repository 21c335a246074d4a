import Foundation
import LiveEvents
import Testing

@Suite struct OriginTests {
  @Test func `origins with equal names are equal, and an origin without names equals no origin`() {
    let twitch = Origin(platform: "twitch", source: "main")
    #expect(twitch.platform == "twitch" && twitch.source == "main")
    #expect(Origin(platform: Text("twit" + "ch"), source: "main") == twitch)
    #expect(Origin(platform: "twitch") != twitch)
    #expect(Origin(platform: "", source: "twitch") != Origin(platform: "twitch"))
    #expect(Origin(platform: "") == .none)
    #expect(Origin.none.platform.isEmpty && Origin.none.source.isEmpty)
  }

  @Test func `an origin is saved with its names instead of its numbers`() throws {
    for origin in [Origin(platform: "kick", source: "x"), Origin(platform: "", source: "y"), .none]
    {
      let bytes = try JSONEncoder().encode(origin)
      #expect(try JSONDecoder().decode(Origin.self, from: bytes) == origin)
    }
    let bytes = try JSONEncoder().encode(Origin(platform: "kick"))
    #expect(String(decoding: bytes, as: UTF8.self) == #"{"platform":"kick"}"#)
  }

  @Test func `the origin of an event needs no additional memory`() {
    #expect(MemoryLayout<LiveEvent>.stride == 88)
    #expect(MemoryLayout<Origin>.size == 2)
  }
}

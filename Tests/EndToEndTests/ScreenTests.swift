import ControlInterface
import Foundation
import JSON
import Testing
import Varlink

@Suite(.serialized)
struct ScreenTests {
  @Test func `a monitor's first reply contains all views, and a patch only the changed views`()
    async throws
  {
    let daemon = try RunningDaemon()
    _ = try daemon.ctl("send", "main", #"{"type":"title","title":"evening"}"#)
    try await daemon.withControl { client in
      var replies = try client.client.callMore(
        "io.livehost.Control.MonitorScreen", ["room": "main"] as JSONValue,
        returning: JSONValue.self
      ).makeAsyncIterator()
      let first = try #require(try await replies.next())
      let screen: ScreenReport = try #require(first["screen"]).decode()
      let names = Set(screen.views.values.map(\.name))
      #expect(names == ["HostView", "HeaderView", "ControlView", "RecorderView"])
      #expect(screen.views["\(screen.root)"]?.name == "HostView")
      let header = try #require(screen.views.first { $0.value.name == "HeaderView" })
      #expect("\(header.value.output)".contains("evening"))
      _ = try daemon.ctl("send", "main", #"{"type":"viewers","count":7}"#)
      let patch = try #require(try await replies.next()?["patch"]?["views"]?.objectValue)
      #expect(Set(patch.keys.map(\.text)) == [header.key])
      #expect("\(patch)".contains("7 viewers"))
    }
    #expect(daemon.stop() == 0)
  }
}

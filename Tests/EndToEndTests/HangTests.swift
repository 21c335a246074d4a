import ControlInterface
import Foundation
import JSON
import Testing
import Varlink

@Suite(.serialized)
struct HangTests {
  @Test
  func `a blocking action and a blocking view are reported by name, each with its hang class`()
    async throws
  {
    let daemon = try RunningDaemon(environment: [
      "LIVEHOST_HOLD": "action:header.titleChanged=800,view:RecorderView=260"
    ])
    try await daemon.withControl { client in
      var replies = try client.monitorHangs().makeAsyncIterator()
      #expect(try await replies.next()?.hangs == [])
      /// Returns the next hang that satisfies the condition. A busy machine may cause other hangs.
      func next(where isWanted: (HangReport) -> Bool) async throws -> HangReport {
        while true {
          let reply = try #require(try await replies.next())
          if let hang = reply.hangs.first(where: isWanted) { return hang }
        }
      }
      // The first frame of a room evaluates all views.
      _ = try daemon.ctl("open", "main")
      let first = try await next { $0.view == "RecorderView" }
      #expect(first.action == nil)
      #expect(first.room == "main")
      #expect(first.durationMicroseconds >= 260_000)
      _ = try daemon.ctl("send", "main", #"{"type":"title","title":"evening"}"#)
      let second = try await next { $0.action == "header.titleChanged" }
      #expect(second.view == nil)
      #expect(second.durationMicroseconds >= 800_000)
      for hang in [first, second] {
        #expect(hang.kind == (hang.durationMicroseconds < 500_000 ? .microhang : .hang))
      }
    }
    // On a busy machine, the lane may have waited for a processor most of the time.
    #expect(daemon.log.contains("view RecorderView"))
    #expect(daemon.log.contains("action header.titleChanged"))
    let table = try daemon.ctl("hangs")
    #expect(table.status == 0)
    #expect(table.output.contains("action header.titleChanged"))
    let status = try daemon.ctl("status")
    #expect(status.output.contains(/[0-9]+ microhangs?, [1-9][0-9]* hangs?/))
    #expect(status.output.contains("degraded"))
    #expect(daemon.stop() == 0)
  }

  @Test func `a lane that waits in a system call is distinguished from a lane that computes`()
    async throws
  {
    let daemon = try RunningDaemon(environment: ["LIVEHOST_BLOCK_LANE_MS": "600"])
    try await daemon.withControl { client in
      var replies = try client.monitorHangs().makeAsyncIterator()
      #expect(try await replies.next()?.hangs == [])
      kill(daemon.process.processIdentifier, SIGUSR2)
      let hang = try #require(try await replies.next()?.hangs.first)
      #expect(hang.kind == .hang)
      #expect(hang.reason == .blocked)
    }
    #expect(daemon.stop() == 0)
  }

  @Test
  func `livehostctl why names the action and field, and lists existing views for an unknown one`()
    throws
  {
    let daemon = try RunningDaemon()
    _ = try daemon.ctl("send", "main", #"{"type":"title","title":"evening"}"#)
    let why = try daemon.ctl("why", "main", "HeaderView")
    #expect(why.status == 0)
    #expect(why.output.contains("header.titleChanged -> title"))
    let missing = try daemon.ctl("why", "main", "Header")
    #expect(missing.status == 1)
    #expect(missing.diagnostics.contains("HeaderView"))
    #expect(daemon.stop() == 0)
  }
}

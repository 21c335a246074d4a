import ControlInterface
import Foundation
import JSON
import Testing

/// Checks that mistakes at the command line are reported.
@Suite(.serialized)
struct MistakeTests {
  @Test func `setting a schedule or a capacity does not open a room under a mistyped name`() throws
  {
    let daemon = try RunningDaemon()
    for verb in [["schedule", "typo", "10m"], ["capacity", "typo", "3"]] {
      let outcome = try run("livehostctl", ["--socket", daemon.controlSocket] + verb)
      #expect(outcome.status == 1)
      #expect(outcome.diagnostics.contains("there is no room 'typo'"))
    }
    #expect(!(try daemon.ctl("rooms").output.contains("typo")))
    #expect(daemon.stop() == 0)
  }

  @Test func `ingest exits with 65 if the input has no valid event`() throws {
    let daemon = try RunningDaemon()
    let outcome = try daemon.ctl("ingest", "-", input: "no event\nnor this\n")
    #expect(outcome.status == 65)
    #expect(outcome.diagnostics.contains("looks like text that begins with 'no event'"))
    let rejected = try daemon.ctl("ingest", "-", input: #"{"type":"viewers"}"# + "\n")
    #expect(rejected.status == 65)
    #expect(rejected.diagnostics.contains("all events were rejected"))
    #expect(try daemon.ctl("ingest", "-", input: "").status == 0, "empty input is valid")
    #expect(daemon.stop() == 0)
  }

  @Test func `livehostctl exits with 1 if its output cannot be written`() throws {
    for (target, status) in [("/dev/full", 1), ("/dev/null", 0)] as [(String, Int32)] {
      let process = Process()
      process.executableURL = RunningDaemon.binaries.appendingPathComponent("livehostctl")
      process.arguments = ["--help"]
      process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: target))
      process.standardError = FileHandle.nullDevice
      try process.run()
      process.waitUntilExit()
      #expect(process.terminationStatus == status, "\(target)")
    }
  }

  @Test
  func `an event that names the room main is applied to main, even if the call names another room`()
    async throws
  {
    let daemon = try RunningDaemon()
    let reply = try await daemon.withControl { client in
      try await client.sendEvents(
        room: "other",
        events: [
          ["type": "viewers", "room": "main", "count": .integer(4)],
          ["type": "viewers", "count": .integer(7)],
        ])
    }
    #expect(reply.received == 2)
    for (room, viewers) in [("main", 4), ("other", 7)] {
      let report = try daemon.ctl("show", room, "header", "--json=short").json()
      let header = (report["features"] as? [String: Any])?["header"] as? [String: Any]
      #expect(header?["viewers"] as? Int == viewers, "\(room)")
    }
    #expect(daemon.stop() == 0)
  }

  @Test func `a name whose mentions are highlighted may start with @`() throws {
    let daemon = try RunningDaemon()
    let message =
      #"{"type":"chat.message","id":"1","user":{"id":"u","name":"Ann"},"text":"hi @Bob"}"#
    #expect(try daemon.ctl("send", "main", message).status == 0)
    #expect(try daemon.ctl("chat", "highlight", "main", "@Bob").output == "1 mention\n")
    #expect(daemon.stop() == 0)
  }
}

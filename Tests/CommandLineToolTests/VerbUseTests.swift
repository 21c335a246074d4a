import CommandLineTool
import ControlInterface
import ControlTestSupport
import Synchronization
import Testing

/// Problems that people met when they tried the verbs.
@Suite struct VerbUseTests {
  @Test(arguments: [
    ("{\"type\":", "unexpected end at byte 9"),
    ("{\"type\" 1}", "unexpected character at byte 9"),
    ("{} x", "unexpected text after the end of the value at byte 4"),
    ("{\"a\":1,\"a\":2}", "duplicate member"),
  ])
  func `the error for an event that is not JSON describes the problem`(
    text: String, problem: String
  ) async throws {
    let daemon = try await FakeDaemon()
    let run = await daemon.run(["send", "main", text])
    #expect(run.status == .badData)
    #expect(run.diagnostics.contains("not valid JSON: ") && run.diagnostics.contains(problem))
    await daemon.stop()
  }

  @Test(arguments: ["filter", "scroll", "highlight", "thread"])
  func `the help of verbs that affect all viewers of a room says so`(verb: String) async {
    let help = await run(["chat", verb, "--help"]).output
      .split(separator: "\n").joined(separator: " ")
    #expect(help.contains("everyone who watches the room"))
  }

  @Test func `an unknown help topic is an error with a suggestion`() async {
    let near = await run(["help", "recrod"])
    #expect(near.status == .usage && near.output.isEmpty)
    #expect(near.diagnostics.contains("there is no verb 'recrod'; did you mean 'record'?"))
    #expect(await run(["help", "nosuch"]).status == .usage)
    let inner = await run(["record", "strat", "uni"])
    #expect(inner.diagnostics.contains("did you mean 'start'?"))
  }

  @Test func `analyze with the name of a room starts one task, for this room`() async throws {
    let daemon = try await FakeDaemon()
    #expect(await daemon.run(["analyze", "chatters", "main"]).status == .done)
    let requests = daemon.service.startedTasks.withLock { $0 }
    #expect(requests.map(\.room) == ["main"] && requests.map(\.recording) == [nil])
    await daemon.stop()
  }
}

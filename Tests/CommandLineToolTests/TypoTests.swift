import CommandLineTool
import ControlInterface
import ControlTestSupport
import JSON
import Testing

@Suite struct TypoTests {
  @Test func `send refuses a room name that is probably misspelled and suggests the right one`()
    async throws
  {
    let daemon = try await FakeDaemon()
    let run = await daemon.run(["send", "mian", "{\"type\":\"chat.clear\"}"])
    #expect(run.status == .failed)
    #expect(run.diagnostics.contains("did you mean 'main'? 'livehostctl open mian' opens it"))
    for room in ["studio", "main2"] {
      let other = await daemon.run(["send", room, "{\"type\":\"chat.clear\"}"])
      #expect(!other.diagnostics.contains("did you mean"), "\(room)")
    }
    await daemon.stop()
  }

  @Test func `for an unknown room, the error suggests the similar one`() async throws {
    let daemon = try await FakeDaemon()
    #expect(await daemon.run(["show", "mian"]).diagnostics.contains("did you mean 'main'?"))
    #expect(await !daemon.run(["show", "elsewhere"]).diagnostics.contains("did you mean"))
    await daemon.stop()
  }

  @Test func `a control whose name is probably misspelled is created only with --new`() async throws
  {
    let daemon = try await FakeDaemon(report: .full)
    let run = await daemon.run(["set", "main", "volmue", "1"])
    #expect(run.status == .failed)
    #expect(run.diagnostics.contains("did you mean 'volume'? --new creates it"))
    #expect(await daemon.run(["set", "main", "volmue", "1", "--new"]).status == .done)
    #expect(await daemon.run(["set", "main", "volume2", "1"]).status == .done)
    await daemon.stop()
  }

  @Test(arguments: [("25%", 0.25), ("0%", 0), ("100%", 1), ("0.5", 0.5)])
  func `the level of a control is given as a fraction or a percentage`(text: String, value: Double)
    async throws
  {
    let daemon = try await FakeDaemon()
    let run = await daemon.run(["set", "main", "zoom", text, "--json=short"])
    #expect(try JSONValue(parsing: run.output)["value"] == .number(value))
    await daemon.stop()
  }

  @Test(arguments: ["101%", "-1%", "%", "1.01"])
  func `a level of a control that is not valid is a usage error`(text: String) async {
    #expect(await run(["set", "main", "zoom", text]).status == .usage)
  }

  @Test func `rejected events are listed by reason, the most frequent reason first`() {
    #expect(PlaybackText.rejections(["duplicate": 0]) == nil)
    let text = PlaybackText.rejections(["unknownType": 2, "duplicate": 1_000, "tooLong": 2])
    #expect(text?.contains(": 1,000 duplicate, 2 tooLong, 2 unknownType; ") == true)
  }
}

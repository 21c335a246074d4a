import CommandLineTool
import ControlInterface
import ControlTestSupport
import JSON
import LiveEvents
import Synchronization
import TerminalScreen
import TerminalTestSupport
import TestSupport
import Testing

@Suite struct WatchScreenTests {
  private func start(
    _ terminal: EmulatedTerminal, _ daemon: FakeDaemon, _ arguments: [String] = ["watch", "main"]
  ) -> (Task<ToolStatus, Never>, Capture) {
    let capture = Capture()
    let tool = CommandLineTool(
      console: terminal.console(capture),
      environment: ProcessEnvironment(
        variables: ["LIVEHOST_SOCKET": daemon.directory.path], userID: 0))
    return (Task { await tool.run(arguments) }, capture)
  }

  @Test func `watch draws only changes, and restores the terminal at its end`()
    async throws
  {
    let daemon = try await FakeDaemon()
    let terminal = EmulatedTerminal(columns: 100, rows: 30)
    let (task, capture) = start(terminal, daemon, ["watch", "main", "--rate", "1000"])
    daemon.service.showScreen(.made(chat: .messages(0..<5)))
    await terminal.wait { $0.contains { $0.contains("text 4") } }
    let whole = terminal.bytesDrawn
    daemon.service.showScreen(.made(chat: .messages(0..<5), viewers: 9))
    await terminal.wait { $0.contains { $0.contains("9 viewers") } }
    #expect(terminal.bytesDrawn - whole < 20)
    terminal.resize(columns: 60, rows: 20)
    await terminal.wait { $0.count == 20 && $0.contains { $0.contains("Recorder") } }
    terminal.type("?")
    await terminal.wait { $0.contains { $0.contains("Page Up") } }
    terminal.type("q")
    #expect(await task.value == .done)
    #expect(terminal.ends == 1)
    #expect(terminal.unknown == [])
    #expect(capture.text.isEmpty && capture.diagnostics.isEmpty)
    await daemon.stop()
  }

  @Test func `Ctrl-C restores the terminal`() async throws {
    let daemon = try await FakeDaemon()
    let terminal = EmulatedTerminal(columns: 60, rows: 20)
    let (task, capture) = start(terminal, daemon)
    daemon.service.showScreen(.full)
    await terminal.wait { $0.contains { $0.contains("Recorder") } }
    task.cancel()
    #expect(await task.value == .interrupted)
    #expect(terminal.ends == 1)
    #expect(capture.diagnostics.isEmpty)
    await daemon.stop()
  }

  @Test
  func `watch reports that the daemon is unreachable during a restart, and then continues`()
    async throws
  {
    let daemon = try await FakeDaemon()
    let terminal = EmulatedTerminal(columns: 60, rows: 20)
    let (task, capture) = start(terminal, daemon)
    daemon.service.showScreen(.full)
    await terminal.wait { $0.contains { $0.contains("Recorder") } }
    await daemon.stop()
    await terminal.wait { $0.contains { $0.contains(ScreenText.awayNotice) } }
    #expect(terminal.lines.contains { $0.contains("Recorder") })
    let next = try await FakeDaemon(in: daemon.directory)
    next.service.showScreen(.made(chat: .messages(0..<5), viewers: 9))
    await terminal.wait { lines in
      lines.contains { $0.contains("9 viewers") }
        && !lines.contains { $0.contains(ScreenText.awayNotice) }
    }
    task.cancel()
    #expect(await task.value == .interrupted)
    #expect(terminal.ends == 1)
    #expect(capture.diagnostics.isEmpty)
    await next.stop()
  }

  @Test func `closing the room ends the watch without an error`() async throws {
    let daemon = try await FakeDaemon()
    let terminal = EmulatedTerminal(columns: 60, rows: 20)
    let (task, capture) = start(terminal, daemon)
    daemon.service.showScreen(.full)
    await terminal.wait { $0.contains { $0.contains("Recorder") } }
    daemon.service.screens.finish(.noSuchRoom("main"))
    #expect(await task.value == .done)
    #expect(terminal.ends == 1)
    #expect(capture.diagnostics == "livehostctl: the room 'main' was closed\n")
    await daemon.stop()
  }

  @Test(.timeLimit(.minutes(1))) func `watch names the user as the author of an act`() async throws
  {
    let daemon = try await FakeDaemon()
    let terminal = EmulatedTerminal(columns: 100, rows: 30)
    let tool = CommandLineTool(
      console: terminal.console(Capture()),
      environment: ProcessEnvironment(
        variables: ["LIVEHOST_SOCKET": daemon.directory.path, "USER": "ann"], userID: 0))
    let task = Task { await tool.run(["watch", "main"]) }
    var heading = ScreenNode.row(.text("Eve", .person))
    heading.acts = [
      ScreenAct(
        label: "ban", method: "Act",
        parameters: ["kind": "ban", "user": ["id": "u9", "name": "Eve"]], confirms: true)
    ]
    daemon.service.showScreen(
      ScreenReport(
        root: 1,
        views: [
          "1": ScreenView(
            name: "HostView", output: .column(.panel("chat", "Chat", priority: 1, heading)))
        ], room: "main", counters: Counters(received: 10, applied: 10)))
    await terminal.wait { $0.contains { $0.contains("Eve") } }
    // Down, and the key of the act.
    terminal.type("\u{1B}[Bb")
    await terminal.wait { $0.last?.contains("ban Eve? y/n") == true }
    terminal.type("y")
    await terminal.wait { $0.last?.contains("ban: no answer") == true }
    let act = RequestedAct(
      try PlatformAct(.ban, person: Person(id: "u9", name: "Eve")), by: "ann")
    #expect(
      daemon.service.log.withLock { $0 }.contains("\(LiveEvent.Payload.control(.act(act)))"))
    terminal.type("q")
    #expect(await task.value == .done)
    await daemon.stop()
  }
}

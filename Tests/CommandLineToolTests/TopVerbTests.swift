import CommandLineTool
import ControlTestSupport
import Synchronization
import TerminalScreen
import TerminalTestSupport
import TestSupport
import Testing

@Suite struct TopVerbTests {
  @Test func `if its output is a pipe, top prints once, with the rates of one interval`()
    async throws
  {
    let daemon = try await FakeDaemon()
    let capture = Capture()
    let clock = Mutex<UInt64>(1)
    let slept = Mutex<[Duration]>([])
    let tool = CommandLineTool(
      console: capture.console(),
      environment: ProcessEnvironment(
        variables: ["LIVEHOST_SOCKET": daemon.directory.path], userID: 0,
        now: { clock.withLock { $0 } },
        sleep: { duration in
          slept.withLock { $0.append(duration) }
          clock.withLock { $0 += 2_000_000_000 }
        }))
    #expect(await tool.run(["top", "--interval", "2", "--sort=pending"]) == .done)
    #expect(slept.withLock { $0 } == [.seconds(2)])
    #expect(capture.text.contains("PENDING*"))
    #expect(capture.text.contains("ChatView") == false && capture.text.contains("HostView"))
    #expect(capture.text.split(separator: "\n").allSatisfy { $0.last != " " })
    await daemon.stop()
  }

  @Test func `during a restart of the daemon, top keeps its tables and shows a notice`()
    async throws
  {
    let daemon = try await FakeDaemon()
    let terminal = EmulatedTerminal(columns: 100, rows: 20)
    let capture = Capture()
    let tool = CommandLineTool(
      console: terminal.console(capture),
      environment: ProcessEnvironment(
        variables: ["LIVEHOST_SOCKET": daemon.directory.path], userID: 0))
    let task = Task { await tool.run(["top", "--interval", "0.1"]) }
    await terminal.wait { $0.contains { $0.contains("HostView") } }
    await daemon.stop()
    await terminal.wait { $0.contains { $0.contains(ScreenText.awayNotice) } }
    #expect(terminal.lines.contains { $0.contains("HostView") })
    let next = try await FakeDaemon(in: daemon.directory)
    await terminal.wait { !$0.contains { $0.contains(ScreenText.awayNotice) } }
    terminal.type("q")
    #expect(await task.value == .done)
    #expect(capture.diagnostics.isEmpty)
    await next.stop()
  }

  @Test func `the help of top explains the columns of its tables`() async {
    let help = await run(["top", "--help"]).output
    #expect(help.contains("AVOIDABLE") && help.contains("LOAD"))
  }

  @Test(arguments: [["--interval", "0"], ["--sort", "nonsense"], ["--sort-views", "phase"]])
  func `top refuses invalid arguments`(arguments: [String]) async {
    #expect(await run(["top"] + arguments).status == .usage)
  }
}

import CommandLineTool
import ControlInterface
import ControlTestSupport
import Synchronization
import TerminalScreen
import TerminalTestSupport
import TestSupport
import Testing

@Suite struct PagingTests {
  /// A terminal with a pager that may be missing, and the output that each received.
  private final class PagedTerminal: Sendable {
    private let pages = Mutex<[String]>([])
    private let capture = Capture()
    private let hasPager: Bool

    init(hasPager: Bool = true) { self.hasPager = hasPager }

    var paged: [String] { pages.withLock { $0 } }
    var written: String { capture.text }

    func tool(
      rows: Int, isTerminal: Bool = true, socket: String = "/nonexistent",
      onWrite: @escaping @Sendable () -> Void = {}
    ) -> CommandLineTool {
      var console = capture.console(onWrite: onWrite)
      console.isOutputTerminal = isTerminal
      console.size = { (80, rows) }
      console.page = { bytes in
        guard self.hasPager else { return false }
        self.pages.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
        return true
      }
      return CommandLineTool(
        console: console,
        environment: ProcessEnvironment(variables: ["LIVEHOST_SOCKET": socket], userID: 0))
    }
  }

  @Test func `output taller than the terminal is passed to the pager`() async {
    let terminal = PagedTerminal()
    #expect(await terminal.tool(rows: 10).run(["--help"]) == .done)
    #expect(terminal.paged.count == 1)
    #expect(terminal.paged.first?.contains("Exit codes: 0 done") == true)
    #expect(terminal.written.isEmpty)
  }

  @Test(arguments: [
    (["--help"], 500, true, true), (["--no-pager", "--help"], 10, true, true),
    (["--help"], 10, false, true), (["--help"], 10, true, false),
  ])
  func `output is not paged if it fits, if paging is off, or without a terminal or pager`(
    arguments: [String], rows: Int, isTerminal: Bool, hasPager: Bool
  ) async {
    let terminal = PagedTerminal(hasPager: hasPager)
    #expect(await terminal.tool(rows: rows, isTerminal: isTerminal).run(arguments) == .done)
    #expect(terminal.paged.isEmpty)
    #expect(terminal.written.contains("Exit codes: 0 done"))
  }

  @Test func `a single result is paged, but a stream of results is not`() async throws {
    let daemon = try await FakeDaemon()
    let terminal = PagedTerminal()
    let socket = daemon.directory.path
    #expect(
      await terminal.tool(rows: 10, socket: socket).run(["show", "main", "--json=pretty"]) == .done)
    #expect(terminal.paged.count == 1)
    #expect(terminal.written.isEmpty)
    let (writes, written) = AsyncStream<Void>.makeStream()
    let watching = terminal.tool(rows: 10, socket: socket) { written.yield() }
    let task = Task { await watching.run(["watch", "main", "--json=pretty"]) }
    for await _ in writes { break }
    task.cancel()
    #expect(await task.value == .interrupted)
    #expect(terminal.paged.count == 1)
    await daemon.stop()
  }
}

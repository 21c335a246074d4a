import CommandLineTool
import Glibc
import JSON
import Synchronization
import TerminalScreen
import TerminalTestSupport
import TestSupport
import Testing

@Suite struct IngestTests {
  private func bundledLines() throws -> [String] {
    let source = try FileSource(path: bundledRecording)
    var bytes: [UInt8] = []
    while try source.read({ bytes += $0 }) {}
    return bytes.split(separator: 0x0A).map { line in
      String(decoding: line, as: UTF8.self)
    }
  }

  @Test
  func `ingest sends the whole bundled recording in large writes and waits for confirmation`()
    async throws
  {
    let daemon = try await FakeDaemon()
    let run = await daemon.run(["ingest", bundledRecording, "--speed", "max", "--json=short"])
    #expect(run.status == .done)
    let value = try JSONValue(parsing: run.output)
    #expect(value["lines"] == 5_000)
    #expect(value["received"] == 5_000)
    #expect(value["rejected"] == 0)
    let received = daemon.ingest.received.withLock { $0 }
    #expect(received.control.first == ["type": "options", "clock": "event"])
    #expect(received.control.last?["type"] == "sync")
    #expect(received.lines.count { $0.contains("PRIVMSG") } == 4_933)
    #expect(received.writes.count < 1_000)
    #expect(run.diagnostics.isEmpty)
    await daemon.stop()
  }

  @Test func `ingest sends its options before the lines and keeps the order of the lines`()
    async throws
  {
    let daemon = try await FakeDaemon()
    let file = daemon.directory.write(
      "lines", "{\"type\":\"a\",\"ts\":1000}\n\n{\"type\":\"refuse\",\"ts\":1001}".utf8)
    let run = await daemon.run(["ingest", "--room=studio", file])
    #expect(run.status == .done)
    #expect(run.output.contains("3 lines sent"))
    #expect(run.output.contains("1 rejected"))
    let received = daemon.ingest.received.withLock { $0 }
    #expect(received.control.first == ["type": "options", "room": "studio"])
    #expect(
      received.lines == ["{\"type\":\"a\",\"ts\":1000}", "", "{\"type\":\"refuse\",\"ts\":1001}"])
    await daemon.stop()
  }

  @Test func `ingest --strict exits with the status for bad data after a rejected event`()
    async throws
  {
    let daemon = try await FakeDaemon()
    let good = daemon.directory.write("good", "{\"type\":\"a\"}\n".utf8)
    #expect(await daemon.run(["ingest", good, "--strict"]).status == .done)
    await daemon.stop()
    let next = try await FakeDaemon()
    let mixed = next.directory.write("mixed", "{\"type\":\"refuse\"}\n{\"type\":\"a\"}\n".utf8)
    let run = await next.run(["ingest", mixed, "--strict", "--json=short"])
    #expect(run.status == .badData)
    #expect(run.diagnostics.contains("1 rejected") && run.diagnostics.contains("--strict"))
    #expect(try JSONValue(parsing: run.output)["error"]?["result"]?["received"] == 2)
    #expect(next.ingest.received.withLock { $0.lines.count } == 2)
    await next.stop()
  }

  @Test
  func `if events are applied but not recorded, ingest reports them and its exit code is not 0`()
    async throws
  {
    let daemon = try await FakeDaemon()
    let file = daemon.directory.write("lines", "{\"type\":\"unkept\",\"ts\":1000}\n".utf8)
    let run = await daemon.run(["ingest", file, "--json=short"])
    #expect(run.status == .failed)
    #expect(run.diagnostics.contains("No space left on device"))
    let value = try JSONValue(parsing: run.output)
    #expect(value["error"]?["result"]?["received"] == 1)
    #expect(value["error"]?["result"]?["unrecorded"] == "No space left on device")
    await daemon.stop()
  }

  @Test(arguments: ["truncated", "garbled", "missing", "directory", "format"])
  func `input that cannot be read or decoded causes the exit code for bad data`(kind: String)
    async throws
  {
    let daemon = try await FakeDaemon()
    let header: [UInt8] = [0x1F, 0x8B, 0x08, 0, 0, 0, 0, 0, 0, 3]
    let arguments: [String] =
      switch kind {
      case "truncated": [daemon.directory.write("a.log", header)]
      case "garbled": [daemon.directory.write("a.irc", header + [0xFF, 0xFF, 0xFF, 0xFF])]
      case "missing": ["\(daemon.directory.path)/nothing"]
      case "directory": [daemon.directory.path]
      default: [daemon.directory.write("a.irc", "@a=b :x PRIVMSG #c :d\n".utf8), "--format=native"]
      }
    let run = await daemon.run(["ingest", "--speed=max"] + arguments)
    #expect(run.status == .badData, "\(run.diagnostics)")
    await daemon.stop()
  }

  @Test func `if a compressed recording is truncated, all complete lines are sent and confirmed`()
    async throws
  {
    let daemon = try await FakeDaemon()
    let file = daemon.directory.write("a.irc", "@a=b :x\n@c=d :y\n{}\n@e=f :z\n".utf8)
    let run = await daemon.run(
      ["ingest", file, "--format=twitch-irc", "--speed=max", "--json=short"])
    #expect(run.status == .badData)
    #expect(run.diagnostics.contains("line 3 is not in the format twitch-irc"))
    #expect(daemon.ingest.received.withLock { $0.lines } == ["@a=b :x", "@c=d :y"])
    #expect(try JSONValue(parsing: run.output)["error"]?["result"]?["received"] == 2)
    await daemon.stop()
  }

  @Test(arguments: ["--format=auto", "--format=chatterino"])
  func `ingest translates a recorded chat and names its unknown kinds of messages`(format: String)
    async throws
  {
    let daemon = try await FakeDaemon()
    let file = daemon.directory.write(
      "chat.log",
      "# Start logging at 2026-11-23 20:00:00 CET\n[20:00:01] bo: hi\n[20:00:02] huh\n".utf8)
    let run = await daemon.run(["ingest", file, format, "--room=ada", "--speed=max"])
    #expect(run.status == .done)
    #expect(run.output.contains("1 line sent"))
    #expect(run.output.contains("; not translated: system message (1)"))
    let lines = daemon.ingest.received.withLock { $0.lines }
    #expect(
      lines.count == 1 && lines[0].contains(#""name":"bo"},"text":"hi","platform":"twitch"}"#))
    let json = await daemon.run(["ingest", file, format, "--speed=max", "--json=short"])
    #expect(try JSONValue(parsing: json.output)["unknown"]?["system message"] == 1)
    await daemon.stop()
  }

  @Test func `playing a truncated compressed recording ends after its last complete line`()
    async throws
  {
    let daemon = try await FakeDaemon()
    let source = try #require(fopen(bundledRecording, "r"))
    var bytes = [UInt8](repeating: 0, count: 100_000)
    let count = fread(&bytes, 1, bytes.count, source)
    fclose(source)
    let file = daemon.directory.write("cut.gz", bytes.prefix(count))
    let run = await daemon.run(["ingest", file, "--speed=max", "--json=short"])
    #expect(run.status == .badData)
    #expect(run.diagnostics.contains("gzip data is truncated"))
    let lines = daemon.ingest.received.withLock { $0.lines }
    #expect(lines.count > 100)
    #expect(lines == Array(try bundledLines().prefix(lines.count)))
    #expect(
      try JSONValue(parsing: run.output)["error"]?["result"]?["received"]
        == .integer(Int64(lines.count)))
    await daemon.stop()
  }

  @Test func `if the daemon stops during ingest, the confirmed counts are printed`() async throws {
    let daemon = try await FakeDaemon(closesAfterSyncs: 1)
    let file = daemon.directory.write("lines", "{\"type\":\"a\"}\n".utf8)
    let run = await daemon.run(["ingest", file, "--speed=max", "--json=short"])
    #expect(run.status == .failed)
    #expect(run.diagnostics.contains("the daemon closed the connection"))
    #expect(run.diagnostics.contains("confirmed 0 events"))
    #expect(try JSONValue(parsing: run.output)["error"]?["result"]?["lines"] == 1)
    await daemon.stop()
  }

  @Test
  func `lines read from a pipe are sent again in the same batch after the daemon has restarted`()
    async throws
  {
    let daemon = try await FakeDaemon(closesAfterSyncs: 1)
    let pipe = "\(daemon.directory.path)/pipe"
    #expect(mkfifo(pipe, 0o600) == 0)
    // The pipe is opened for reading and writing, so that neither side waits for the other to open
    // it.
    let writer = try #require(fopen(pipe, "r+"))
    let capture = Capture()
    let tool = CommandLineTool(
      console: capture.console(),
      environment: ProcessEnvironment(
        variables: ["LIVEHOST_SOCKET": daemon.directory.path], userID: 0))
    let task = Task { await tool.run(["ingest", "--room=studio", pipe, "--json=short"]) }
    fputs("{\"type\":\"a\"}\n{\"type\":\"b\"}\n", writer)
    fflush(writer)
    for await _ in daemon.ingest.arrivals
    where daemon.ingest.received.withLock({ $0.control.count { $0["type"] == "sync" } == 2 }) {
      break
    }
    fputs("{\"type\":\"c\"}\n", writer)
    fclose(writer)
    #expect(await task.value == .done)
    let received = daemon.ingest.received.withLock { $0 }
    #expect(
      received.lines == ["a", "b", "a", "b", "c"].map { "{\"type\":\"\($0)\"}" })
    let positions = received.control.filter { $0["type"] == "position" }
    #expect(positions.map { $0["sequence"]?.integerValue } == [1, 1, 2])
    #expect(positions[0] == positions[1])
    #expect(received.control.count { $0["type"] == "options" && $0["room"] == "studio" } == 2)
    #expect(
      capture.diagnostics.contains("the daemon is unreachable")
        && capture.diagnostics.contains("connected again"))
    let result = try JSONValue(parsing: capture.text)
    #expect(result["lines"] == 3 && result["reconnections"] == 1)
    await daemon.stop()
  }

  @Test func `a paced playback sends each line at its time and can be interrupted`()
    async throws
  {
    let daemon = try await FakeDaemon()
    let file = daemon.directory.write(
      "lines", "{\"type\":\"a\",\"ts\":0}\n{\"type\":\"b\",\"ts\":3600000}\n".utf8)
    let capture = Capture()
    let tool = CommandLineTool(
      console: capture.console(),
      environment: ProcessEnvironment(
        variables: ["LIVEHOST_SOCKET": daemon.directory.path], userID: 0))
    let task = Task { await tool.run(["ingest", file]) }
    var arrivals = daemon.ingest.arrivals.makeAsyncIterator()
    await arrivals.next()
    task.cancel()
    #expect(await task.value == .interrupted)
    #expect(capture.diagnostics.contains("interrupted; the daemon had confirmed"))
    #expect(daemon.ingest.received.withLock { $0.lines } == ["{\"type\":\"a\",\"ts\":0}"])
    await daemon.stop()
  }

  @Test func `if no daemon runs, the exit code of ingest says that the daemon is unreachable`()
    async throws
  {
    let directory = TemporaryDirectory()
    let run = await run(["ingest", bundledRecording, "--socket", directory.path])
    #expect(run.status == .notReachable)
  }
}

@Suite struct FileSourceTests {
  @Test func `the bundled recording is decompressed while it is read`() throws {
    let source = try FileSource(path: bundledRecording)
    var bytes: [UInt8] = []
    while try source.read({ bytes += $0 }) {}
    #expect(bytes.count { $0 == 0x0A } == 5_000)
    #expect(source.fileBytes == source.fileSize)
    #expect(bytes.count > source.fileBytes)
    #expect(source.descriptor == nil)
  }

  @Test(arguments: ["", "a", "ab\n", "\u{1F}"])
  func `files too short for a gzip header are read without decompression`(text: String) throws {
    let directory = TemporaryDirectory()
    let source = try FileSource(path: directory.write("file.gz", text.utf8))
    var bytes: [UInt8] = []
    while try source.read({ bytes += $0 }) {}
    #expect(String(decoding: bytes, as: UTF8.self) == text)
  }
}

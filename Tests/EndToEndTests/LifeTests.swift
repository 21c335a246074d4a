import ControlInterface
import Foundation
import Glibc
import SocketTestSupport
import Testing

@Suite(.serialized)
struct LifeTests {
  @Test
  func `READY=1 follows once both sockets accept; on SIGTERM the daemon drains and exits with 0`()
    throws
  {
    // `init` returns after READY=1.
    let daemon = try RunningDaemon()
    let ingest = try BlockingClient(daemon.ingestSocket)
    _ = try BlockingClient(daemon.controlSocket)
    #expect(daemon.notifications.received.contains { $0.hasPrefix("STATUS=") })
    try ingest.write(#"{"type":"viewers","count":3}"# + "\n")
    #expect(try ingest.sync()?["received"] as? Int == 1)
    #expect(daemon.stop() == 0)
    #expect(daemon.log.contains("livehostd stopped"))
    try daemon.notifications.wait(for: "STOPPING=1")
  }

  @Test func `WATCHDOG=1 is sent while all lanes make progress and stops when a lane is blocked`()
    throws
  {
    let daemon = try RunningDaemon(environment: [
      "WATCHDOG_USEC": "400000", "LIVEHOST_BLOCK_LANE_MS": "600000",
    ])
    try daemon.notifications.wait(for: "WATCHDOG=1")
    try daemon.notifications.wait(for: "WATCHDOG=1")
    kill(daemon.process.processIdentifier, SIGUSR2)
    // Notifications in flight may still arrive. Afterwards no notification may arrive for longer
    // than the watchdog's timeout.
    var feeds = 0
    while let lines = daemon.notifications.next(seconds: 2) {
      feeds += lines.filter { $0 == "WATCHDOG=1" }.count
      try #require(feeds < 100, "the watchdog is still fed")
    }
    #expect(daemon.process.isRunning)
    #expect(daemon.log.contains("made no progress"))
  }

  /// A file or directory that another user has placed at the path of the daemon's directory.
  enum Trap: String, CaseIterable {
    case writableByAll, writableByGroup, link, ofAnotherUser, linkToAnotherUser

    static let own: [Trap] = [.writableByAll, .writableByGroup, .link]
    static let foreign: [Trap] = [.ofAnotherUser, .linkToAnotherUser]

    /// A part of the expected error message.
    var reason: String {
      switch self {
      case .writableByAll, .writableByGroup: "is writable by other users; remove their access"
      case .ofAnotherUser: "belongs to user 65534"
      case .link, .linkToAnotherUser: "is a symbolic link; specify its target directory"
      }
    }

    func set(at path: String) {
      switch self {
      case .link, .linkToAnotherUser:
        mkdir(path + ".target", 0o700)
        if self == .linkToAnotherUser { chown(path + ".target", 65534, 65534) }
        symlink(path + ".target", path)
      case .ofAnotherUser:
        mkdir(path, 0o700)
        chown(path, 65534, 65534)
      case .writableByAll, .writableByGroup:
        mkdir(path, 0o700)
        chmod(path, self == .writableByAll ? 0o777 : 0o770)
      }
    }
  }

  private func expectRefusal(of kind: String, _ trap: Trap) throws {
    let directory = try temporaryDirectory()
    defer { try? FileManager.default.removeItem(at: directory) }
    let paths = ["runtime", "state"].map { directory.appendingPathComponent($0).path }
    let path = directory.appendingPathComponent(kind).path
    trap.set(at: path)
    let outcome = try run(
      "livehostd", ["--runtime-dir", paths[0], "--state-dir", paths[1]])
    #expect(outcome.status == 1)
    #expect(outcome.diagnostics.contains("\(kind) directory \(path): \(trap.reason)"))
    #expect(outcome.diagnostics.contains("--\(kind)-dir"))
    #expect(access(paths[0] + "/ingest", F_OK) != 0)
  }

  @Test(.timeLimit(.minutes(1)), arguments: ["runtime", "state"], Trap.own)
  func `a directory that others can change is refused, with the remedy`(
    kind: String, trap: Trap
  ) throws { try expectRefusal(of: kind, trap) }

  @Test(
    .timeLimit(.minutes(1)),
    .enabled(if: geteuid() == 0, "only root can make a directory of another user"),
    arguments: ["runtime", "state"], Trap.foreign)
  func `a directory of another user is refused, with the remedy`(
    kind: String, trap: Trap
  ) throws { try expectRefusal(of: kind, trap) }

  @Test func `SIGHUP during the start does not end the daemon, which reloads once it runs`() throws
  {
    let daemon = try RunningDaemon(starting: { daemon in
      try daemon.notifications.wait(for: "STATUS=starting: reading recordings")
      kill(daemon.process.processIdentifier, SIGHUP)
    })
    #expect(daemon.process.isRunning)
    while !daemon.notifications.received.contains("RELOADING=1") {
      try #require(daemon.notifications.next() != nil, "the daemon does not reload")
    }
    #expect(daemon.stop() == 0)
  }

  @Test func `checking a valid configuration prints the memory that it allows`() throws {
    let outcome = try run("livehostd", ["--check-config"])
    #expect(outcome.status == 0)
    #expect(
      outcome.diagnostics.contains(
        #/the configuration is valid; 64 rooms of [0-9.]+ MiB each may use [0-9.,]+ [MG]iB of memory in total, and 256 ingest connections [0-9.]+ MiB/#
      ), "\(outcome.diagnostics)")
  }

  @Test func `a sender beyond ingest.connections gets an error, and the journal gets an entry`()
    throws
  {
    let directory = try temporaryDirectory()
    defer { try? FileManager.default.removeItem(at: directory) }
    let file = directory.appendingPathComponent("one.yaml")
    try "ingest:\n  connections: 1\n".write(to: file, atomically: true, encoding: .utf8)
    let daemon = try RunningDaemon(arguments: ["--config", file.path])
    let first = try BlockingClient(daemon.ingestSocket)
    #expect(try first.sync() != nil)
    let outcome = try daemon.ctl("ingest", "-", input: #"{"type":"chat.clear"}"# + "\n")
    #expect(outcome.status == 1)
    #expect(
      outcome.diagnostics.contains(
        "the daemon refused the connection: the limit ingest.connections is reached"
      ), "\(outcome.diagnostics)")
    #expect(daemon.stop() == 0)
    #expect(
      daemon.log.contains("connections to the ingest socket beyond ingest.connections: refused"))
  }

  @Test func `a bad configuration makes the daemon exit with 78 and name file, line and key`()
    throws
  {
    let directory = try temporaryDirectory()
    defer { try? FileManager.default.removeItem(at: directory) }
    let file = directory.appendingPathComponent("bad.yaml")
    try "rooms:\n  maximun: 5\n".write(to: file, atomically: true, encoding: .utf8)
    for extra in [[], ["--check-config"]] {
      let outcome = try run("livehostd", ["--config", file.path] + extra)
      #expect(outcome.status == 78)
      #expect(outcome.diagnostics.contains("\(file.path):2: rooms.maximun: unknown key"))
      #expect(outcome.diagnostics.contains("did you mean 'rooms.maximum'?"))
    }
    let missing = try run("livehostd", ["--config", "/nonexistent.yaml"])
    #expect(missing.status == 78)
    #expect(missing.diagnostics.contains("/nonexistent.yaml"))
  }

  @Test
  func `the error for a control socket in use names it, and does not affect the other daemon`()
    async throws
  {
    let daemon = try RunningDaemon()
    let second = try run("livehostd", ["--runtime-dir", daemon.runtimeDirectory])
    #expect(second.status == 1)
    #expect(second.diagnostics.contains("another process listens on this socket"))
    #expect(second.diagnostics.contains(daemon.controlSocket))
    _ = try await daemon.withControl { try await $0.getStatus() }
    #expect(daemon.stop() == 0)
  }

  @Test
  func `the error for an ingest socket in use names it, and the control socket is removed`()
    throws
  {
    let daemon = try RunningDaemon()
    let other = try temporaryDirectory()
    defer { try? FileManager.default.removeItem(at: other) }
    // This path is another name of the same socket.
    let ingest = other.appendingPathComponent("ingest").path
    try FileManager.default.linkItem(atPath: daemon.ingestSocket, toPath: ingest)
    let second = try run(
      "livehostd",
      ["--runtime-dir", other.path, "--state-dir", other.appendingPathComponent("state").path])
    #expect(second.status == 1)
    #expect(second.diagnostics.contains("ingest socket \(ingest): another process listens"))
    #expect(!second.diagnostics.contains("livehostd stopped"))
    #expect(!FileManager.default.fileExists(atPath: other.path + "/io.livehost.Control"))
    let connection = try BlockingClient(daemon.ingestSocket)
    #expect(try connection.sync() != nil, "the first daemon keeps running")
    #expect(daemon.stop() == 0)
  }

  @Test func `a state directory in use causes an error that names it, until the other daemon ends`()
    throws
  {
    let daemon = try RunningDaemon()
    let state = daemon.directory.appendingPathComponent("state").path
    let other = try temporaryDirectory()
    defer { try? FileManager.default.removeItem(at: other) }
    let second = try run("livehostd", ["--runtime-dir", other.path, "--state-dir", state])
    #expect(second.status == 1)
    #expect(second.diagnostics.contains("\(state): is in use by another livehostd"))
    #expect(try daemon.ctl("open", "main").status == 0)
    daemon.kill()
    let next = try RunningDaemon(arguments: ["--state-dir", state])
    #expect(try next.ctl("rooms").output.contains("main"))
    #expect(next.stop() == 0)
  }

  @Test func `a socket left by a killed daemon is replaced`() async throws {
    let daemon = try RunningDaemon()
    kill(daemon.process.processIdentifier, SIGKILL)
    daemon.process.waitUntilExit()
    #expect(FileManager.default.fileExists(atPath: daemon.controlSocket))
    let next = try RunningDaemon(arguments: ["--runtime-dir", daemon.runtimeDirectory])
    let client = try await ControlClient.connect(path: daemon.controlSocket)
    _ = try await client.getStatus()
    #expect(next.stop() == 0)
  }

  @Test func `a missing, read-only or invalid runtime directory causes an error that names it`()
    throws
  {
    let directory = try temporaryDirectory()
    defer { try? FileManager.default.removeItem(at: directory) }
    let missing = try run("livehostd", ["--runtime-dir", directory.path + "/a/b"])
    #expect(missing.status == 1)
    #expect(missing.diagnostics.contains("parent directory does not exist"))
    let file = makeFile(directory.appendingPathComponent("file"))
    let notADirectory = try run("livehostd", ["--runtime-dir", file.path])
    #expect(notADirectory.status == 1)
    #expect(notADirectory.diagnostics.contains("is not a directory"))
    // Root can write to every file system except one that supports no writing.
    let readOnly = try run("livehostd", ["--runtime-dir", "/proc/1"])
    #expect(readOnly.status == 1)
    #expect(readOnly.diagnostics.contains("/proc/1"))
  }
}

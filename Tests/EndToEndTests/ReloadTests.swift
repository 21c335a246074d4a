import ControlInterface
import Foundation
import JSON
import SocketTestSupport
import Testing
import Varlink

@Suite(.serialized)
struct ReloadTests {
  private func file(_ text: String) throws -> URL {
    let file = try temporaryDirectory().appendingPathComponent("livehostd.yaml")
    try text.write(to: file, atomically: true, encoding: .utf8)
    return file
  }

  @Test
  func `a valid configuration is in force when reload returns, without disturbing connections`()
    async throws
  {
    let configuration = try file("rooms: {maximum: 1}\n")
    let daemon = try RunningDaemon(arguments: ["--config", configuration.path])
    let ingest = try BlockingClient(daemon.ingestSocket)
    try ingest.write(#"{"type":"viewers","count":3}"# + "\n")
    #expect(try ingest.sync("a")?["received"] as? Int == 1)
    #expect(try daemon.ctl("open", "evening").status == 1, "one room is the limit")
    try "rooms: {maximum: 3, open: [evening]}\nlog: {level: debug}\n".write(
      to: configuration, atomically: true, encoding: .utf8)
    #expect(try daemon.ctl("reload").status == 0)
    #expect(try daemon.ctl("rooms").output.contains("evening"))
    #expect(try daemon.ctl("log-level").output == "debug\n")
    try ingest.write(#"{"type":"viewers","count":4}"# + "\n")
    #expect(try ingest.sync("b")?["received"] as? Int == 2)
    try daemon.notifications.wait(for: "RELOADING=1")
    #expect(daemon.notifications.received.contains { $0.hasPrefix("MONOTONIC_USEC=") })
    #expect(daemon.log.contains("the configuration was reloaded"))
    #expect(daemon.stop() == 0)
  }

  @Test func `a reload of an invalid configuration names the line and keeps the old configuration`()
    throws
  {
    let configuration = try file("rooms: {maximum: 2}\n")
    let daemon = try RunningDaemon(arguments: ["--config", configuration.path])
    try "rooms:\n  maximum: many\n".write(to: configuration, atomically: true, encoding: .utf8)
    let outcome = try daemon.ctl("reload")
    #expect(outcome.status == 78)
    #expect(outcome.diagnostics.contains("livehostd.yaml:2: rooms.maximum"))
    #expect(daemon.log.contains("the configuration is unchanged, because the new one is invalid"))
    #expect(try daemon.ctl("open", "one").status == 0)
    #expect(try daemon.ctl("open", "two").status == 0)
    #expect(try daemon.ctl("open", "three").status == 1)
    #expect(daemon.stop() == 0)
  }

  @Test func `SIGHUP reloads the configuration and reports which changes need a restart`() throws {
    let configuration = try file("lanes: 1\n")
    let daemon = try RunningDaemon(arguments: ["--config", configuration.path])
    try "lanes: 2\n".write(to: configuration, atomically: true, encoding: .utf8)
    kill(daemon.process.processIdentifier, SIGHUP)
    try daemon.notifications.wait(for: "RELOADING=1")
    try daemon.notifications.wait(for: "READY=1")
    #expect(daemon.log.contains("at the next start: lanes"))
    #expect(daemon.stop() == 0)
  }

  @Test func `the log level can be changed at run time, and Ping answers`() async throws {
    let daemon = try RunningDaemon()
    #expect(try daemon.ctl("log-level", "trace").output == "trace\n")
    #expect(try daemon.ctl("log-level", "loud").status == 64)
    try await daemon.withControl { client in
      _ = try await client.client.call(
        "io.systemd.service.Ping", NoParameters(), returning: NoParameters.self)
    }
    #expect(daemon.stop() == 0)
  }
}

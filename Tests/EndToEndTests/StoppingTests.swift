import ControlInterface
import Foundation
import SocketTestSupport
import Testing

@Suite(.serialized)
struct StoppingTests {
  @Test func `a stop saves the rooms even if a sender does not read its answers`() throws {
    let daemon = try RunningDaemon()
    let idle = try BlockingClient(daemon.ingestSocket)
    // Answers repeat the token. The kernel buffers about four of these answers, and the rest stays
    // in the daemon.
    for number in 0..<8 {
      let token = String(repeating: "\(number)", count: 60_000)
      try idle.write("{\"type\":\"sync\",\"token\":\"\(token)\"}\n")
    }
    // Each sync makes the daemon's only event loop handle all connections.
    let other = try BlockingClient(daemon.ingestSocket)
    for _ in 0..<8 { _ = try #require(try other.sync()) }
    daemon.process.terminate()
    try daemon.notifications.wait(for: "STATUS=stopping: saving the rooms")
    daemon.process.waitUntilExit()
    #expect(daemon.process.terminationStatus == 0)
    #expect(daemon.log.contains("livehostd stopped"))
  }

  @Test func `a stop cancels a long simulation`() throws {
    let daemon = try RunningDaemon()
    let scenario = """
      name: long
      seed: 1
      duration: 24h
      devices: [iphone-15-plus]
      events:
        - generate: viewers
          rate: 1000/s

      """
    let device = try Data(
      contentsOf: URL(fileURLWithPath: repositoryFile("config/devices/iphone-15-plus.yaml")))
    let request = SimulateRequest(
      path: "long.yaml", scenario: scenario,
      files: [
        .init(path: "devices/iphone-15-plus.yaml", contents: device.base64EncodedString())
      ])
    let parameters = String(decoding: try JSONEncoder().encode(request), as: UTF8.self)
    let client = try BlockingClient(daemon.controlSocket)
    try client.write(
      "{\"method\":\"org.varlink.service.GetInfo\"}\0"
        + "{\"method\":\"io.livehost.Control.Simulate\",\"parameters\":\(parameters)}\0")
    // After this answer, the second call has begun.
    #expect(client.receive()?.contains("livehostd") == true)
    daemon.process.terminate()
    #expect(client.receive() == nil)
    // `receive` also returns nil after a minute of silence. A failed write proves that the
    // connection is closed.
    try #require(throws: SocketFailure.self, "the connection stays open") { try client.write("\0") }
    daemon.process.waitUntilExit()
    #expect(daemon.process.terminationStatus == 0)
    #expect(daemon.log.contains("livehostd stopped"))
  }
}

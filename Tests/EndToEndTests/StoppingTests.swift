import ControlInterface
import Foundation
import SocketTestSupport
import Testing

@Suite(.serialized)
struct StoppingTests {
  @Test func `a sender that does not read its answers does not keep rooms from being saved`() throws
  {
    let daemon = try RunningDaemon()
    let idle = try BlockingClient(daemon.ingestSocket)
    // Answers repeat the token. The kernel takes four of these; then the daemon is left with some.
    for number in 0..<8 {
      let token = String(repeating: "\(number)", count: 60_000)
      try idle.write("{\"type\":\"sync\",\"token\":\"\(token)\"}\n")
    }
    // Each makes the daemon's one loop look at all its connections.
    let other = try BlockingClient(daemon.ingestSocket)
    for _ in 0..<8 { _ = try #require(try other.sync()) }
    daemon.process.terminate()
    try daemon.notifications.wait(for: "STATUS=stopping: saving the rooms")
    daemon.process.waitUntilExit()
    #expect(daemon.process.terminationStatus == 0)
    #expect(daemon.log.contains("livehostd stopped"))
  }

  @Test func `a long simulation is cancelled`() throws {
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
    // The next call begins before anything else can happen.
    #expect(client.receive()?.contains("livehostd") == true)
    daemon.process.terminate()
    #expect(client.receive() == nil)
    // Nil is also what a minute without a word gives.
    try #require(throws: SocketFailure.self, "the call goes on") { try client.write("\0") }
    daemon.process.waitUntilExit()
    #expect(daemon.process.terminationStatus == 0)
    #expect(daemon.log.contains("livehostd stopped"))
  }
}

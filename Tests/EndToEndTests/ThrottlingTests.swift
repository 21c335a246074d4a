import ControlInterface
import Foundation
import JSON
import SocketTestSupport
import Testing
import Varlink

@Suite(.serialized)
struct ThrottlingTests {
  private func file(_ text: String) throws -> URL {
    let file = try temporaryDirectory().appendingPathComponent("livehostd.yaml")
    try text.write(to: file, atomically: true, encoding: .utf8)
    return file
  }

  /// Contradictory or unsupported settings, with the line, the key and a word of the message.
  static let contradictions: [(text: String, place: String, problem: String)] = [
    (
      "throttle:\n  chat: {interval: 2s, maximum-staleness: 1s}\n", ":2: throttle.chat",
      "maximum-staleness"
    ),
    ("throttle:\n  viewers:\n    interval: 0s\n", ":3: throttle.viewers.interval", "above zero"),
    ("throttle:\n  reactions: {class: latest-wins}\n", ":2: throttle.reactions", "aggregate"),
    ("throttle:\n  viewers: {capacity: 9}\n", ":2: throttle.viewers", "fixed"),
    ("throttle:\n  chatt: {interval: 1s}\n", ":2: throttle.chatt", "chat"),
  ]

  @Test(
    arguments: contradictions)
  func `start and reload refuse a contradictory throttle and name its line`(
    text: String, place: String, problem: String
  ) throws {
    let configuration = try file(text)
    let check = try run("livehostd", ["--check-config", "--config", configuration.path])
    #expect(check.status == 78)
    #expect(check.diagnostics.contains(place), "\(check.diagnostics)")
    #expect(check.diagnostics.contains(problem), "\(check.diagnostics)")

    try "".write(to: configuration, atomically: true, encoding: .utf8)
    let daemon = try RunningDaemon(arguments: ["--config", configuration.path])
    try text.write(to: configuration, atomically: true, encoding: .utf8)
    let reload = try daemon.ctl("reload")
    #expect(reload.status == 78)
    #expect(reload.diagnostics.contains(place), "\(reload.diagnostics)")
    #expect(daemon.stop() == 0)
  }

  @Test func `a policy applies after the start, and a changed policy applies after a reload`()
    async throws
  {
    let configuration = try file("throttle: {chat: {interval: 3000s}}\n")
    let daemon = try RunningDaemon(arguments: ["--config", configuration.path])
    let ingest = try BlockingClient(daemon.ingestSocket)
    func message(_ room: String) -> String {
      #"{"type":"chat.message","room":"\#(room)","id":"1","user":{"id":"u","name":"Ann"},"text":"hi"}"#
        + "\n"
    }
    let client = try await ControlClient.connect(path: daemon.controlSocket)
    /// Polls the room's counters until the message has been received and `isSettled` returns true.
    func counters(_ room: String, until isSettled: (Counters) -> Bool) async throws -> Counters {
      var last = Counters()
      for _ in 0..<20_000 {
        guard let report = try? await client.getRoom(room) else { continue }
        last = report.counters
        if last.received == 1, isSettled(last) { break }
      }
      return last
    }
    try ingest.write(message("before"))
    #expect(try await counters("before") { _ in true }.pending == 1)
    try "throttle: {chat: {interval: frame}}\n".write(
      to: configuration, atomically: true, encoding: .utf8)
    #expect(try daemon.ctl("reload").status == 0)
    try ingest.write(message("after"))
    #expect(try await counters("after") { $0.pending == 0 }.applied == 1)
    // An event that is already held keeps its deadline.
    #expect(try await counters("before") { _ in true }.pending == 1)
    await client.client.close()
    #expect(daemon.stop() == 0)
  }
}

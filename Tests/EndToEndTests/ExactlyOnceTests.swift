import Foundation
import SocketTestSupport
import Testing

/// Checks batches that a source sends again after the daemon was killed.
@Suite(.serialized)
struct ExactlyOnceTests {
  private func batch(_ sequence: Int) -> String {
    let messages = (0..<50).map { number in
      let id = sequence * 50 + number
      return
        #"{"type":"chat.message","id":"m\#(id)","user":{"id":"u","name":"Ada"},"text":"\#(id)"}"#
    }
    return ([#"{"type":"position","source":"irc/1","sequence":\#(sequence)}"#] + messages)
      .joined(separator: "\n") + "\n"
  }

  private func messages(_ daemon: RunningDaemon) throws -> Int? {
    let features = try daemon.ctl("show", "main", "--json=short").json()["features"]
    return ((features as? [String: Any])?["chat"] as? [String: Any])?["total"] as? Int
  }

  private func sources(_ daemon: RunningDaemon) throws -> [String: Any] {
    let output = try daemon.ctl("sources", "main", "--json=short").output
    let list = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [[String: Any]]
    return try #require(list?.first)
  }

  @Test
  func `each batch is applied exactly once, even if it is sent again after a kill of the daemon`()
    throws
  {
    var daemon = try RunningDaemon()
    // Deinitialising a `RunningDaemon` removes its directory, so the first daemon is kept.
    let first = daemon
    let state = first.directory.appendingPathComponent("state").path
    var source = try BlockingClient(daemon.ingestSocket)
    try source.write(
      #"{"type":"source.state","source":"irc","state":"live","platform":"twitch"}"# + "\n")
    try source.write(batch(1))
    let acknowledged = try source.sync()
    #expect(acknowledged?["rejected"] as? Int == 0)
    // Only the start of the second batch is sent, never its end.
    try source.write(String(batch(2).prefix(700)))
    daemon.kill()
    for life in 1...2 {
      daemon = try RunningDaemon(arguments: ["--state-dir", state])
      #expect(try messages(daemon) == life * 50)
      let shown = try sources(daemon)
      #expect(shown["state"] as? String == "ended")
      #expect(shown["position"] as? Int == life)
      source = try BlockingClient(daemon.ingestSocket)
      try source.write(batch(life) + batch(life + 1))
      let answer = try source.sync()
      #expect(answer?["type"] as? String == "synced")
      #expect(answer?["rejected"] as? Int == 50)
      #expect(try messages(daemon) == (life + 1) * 50)
      try source.write(#"{"type":"source.state","source":"irc","state":"live"}"# + "\n")
      let again = try source.sync()
      #expect(again?["type"] as? String == "synced")
      #expect(try sources(daemon)["state"] as? String == "live")
      daemon.kill()
    }
    withExtendedLifetime(first) {}
  }
}

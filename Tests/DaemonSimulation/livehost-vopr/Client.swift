import Foundation

/// A source that sends events over one connection.
final class Client: Peer, @unchecked Sendable {
  let name: String
  private var outgoing: [UInt8] = []
  /// The number of event lines so far, valid or malformed.
  private var lines = 0
  private var malformed = 0
  /// The number of valid lines that were rejected so far because their room was closed.
  private var refused = 0
  private var syncs = 0
  /// The rooms that the next acknowledgement covers.
  private var touched: Set<String> = []
  private(set) var unanswered: [Sync] = []
  /// Whether all lines were sent, or nil while the client sends.
  private var isComplete: Bool?

  struct Sync {
    let token: String
    let lines: Int
    let malformed: Int
    let counts: [String: Int]
  }

  init(_ name: String, _ channel: SimulatedChannel, _ simulation: Simulation) {
    self.name = name
    super.init(channel, simulation, messagesEndWith: UInt8(ascii: "\n"))
  }

  /// Whether the client can still send.
  var isOpen: Bool { !hasLeft && !channel.isClosed && isComplete == nil }

  func send(_ count: Int, to room: String, _ time: Int, syncs isSynced: Bool, noise: UInt64) {
    guard isOpen else { return }
    var text = ""
    touched.insert(room)
    for index in 0..<count {
      let id = simulation.model.send(name, to: room)
      text +=
        "{\"type\":\"chat.message\",\"room\":\"\(room)\",\"ts\":\(time),\"id\":\"\(id)\","
        + "\"user\":{\"id\":\"\(name)\",\"name\":\"Ada\"},\"text\":\"\(id)\"}\n"
      lines += 1
      switch (noise &+ UInt64(index)) % 11 {
      case 0:
        text += "{\"type\":\"viewers\",\"room\":\"\(room)\",\"ts\":\(time),\"count\":\(index)}\n"
        lines += 1
      case 1:
        text += "{\"type\":\"chat.message\",\n"
        lines += 1
        malformed += 1
      default: break
      }
    }
    if isSynced { text += sync() + "\n" }
    outgoing += text.utf8
    simulation.trace.add("\(name) sends \(count) to \(room)\(isSynced ? ", syncs" : "")")
    push()
  }

  /// Returns the next sync line and registers it as unanswered.
  private func sync() -> String {
    syncs += 1
    let token = "\(name)-\(syncs)"
    unanswered.append(
      Sync(
        token: token, lines: lines, malformed: malformed,
        counts: simulation.model.counts(of: name).filter { touched.contains($0.key) }))
    touched = []
    return "{\"type\":\"sync\",\"token\":\"\(token)\"}"
  }

  /// Sends as many bytes as the connection accepts. The remaining bytes are sent when there is
  /// space again.
  private func push() {
    guard isOpen, !outgoing.isEmpty else { return }
    outgoing.removeFirst(channel.send(outgoing[...]))
    if !outgoing.isEmpty { Machine.current.after(1_000_000) { [weak self] in self?.push() } }
  }

  func leave(abruptly: Bool) {
    guard isOpen else { return }
    simulation.trace.add("\(name) leaves\(abruptly ? " abruptly" : "")")
    if abruptly {
      unanswered = []
      abandon()
    } else {
      // A last line without a line ending counts as a line.
      if outgoing.isEmpty {
        outgoing += sync().utf8
        push()
      }
      isComplete = outgoing.isEmpty
      channel.closeSending()
    }
  }

  override func hasRead() {
    guard channel.isClosed, !unanswered.isEmpty else { return }
    if isComplete == true {
      simulation.expect(
        .syncIsAnswered, !simulation.isServing,
        "\(name) has sent all lines and got no answer to \(unanswered.map(\.token))")
    }
    unanswered = []
  }

  override func receive(_ message: [UInt8]) {
    let line = String(decoding: message, as: UTF8.self)
    simulation.trace.add("\(name) receives \(line)")
    guard
      let answer = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
      let type = answer["type"] as? String, !unanswered.isEmpty
    else { return }
    let sync = unanswered.removeFirst()
    simulation.expect(
      .counted,
      answer["token"] as? String == sync.token && answer["received"] as? Int == sync.lines,
      "\(name) sent \(sync.lines) lines before \(sync.token) and received \(line)")
    // The answer does not identify the rejected lines.
    let others = (answer["rejected"] as? Int ?? -1) - sync.malformed
    simulation.expect(
      .counted, others == refused || others > refused && simulation.mayRefuse,
      "\(sync.malformed) malformed lines were sent before \(sync.token), and \(name) received \(line)"
    )
    if type == "synced", others == refused { simulation.model.acknowledge(name, sync.counts) }
    refused = others
  }
}

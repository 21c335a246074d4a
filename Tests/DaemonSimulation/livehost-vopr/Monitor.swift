import ControlInterface
import JSON

/// A client that monitors a room over the control socket.
final class Monitor: Peer, @unchecked Sendable {
  let room: String
  /// The room's state according to the replies, or nil before the first reply.
  private(set) var report: JSONValue?
  /// Whether the room was closed or did not exist.
  private var hasEnded = false

  init(of room: String, rate: Double?, _ channel: SimulatedChannel, _ simulation: Simulation) {
    self.room = room
    super.init(channel, simulation, messagesEndWith: 0)
    var parameters: [JSONName: JSONValue] = [
      "room": .string(room), "features": ["chat", "control"],
    ]
    if let rate { parameters["maximumRate"] = .number(rate) }
    let call: JSONValue = [
      "method": "io.livehost.Control.MonitorRoom", "parameters": .object(parameters), "more": true,
    ]
    _ = channel.send(Array(call.serialized() + [0])[...])
  }

  /// Whether the monitor is expected to follow the room.
  var isWatching: Bool { !hasEnded && !hasLeft && !channel.isClosed }

  override func receive(_ message: [UInt8]) {
    guard let reply = try? JSONValue(parsing: message), let parameters = reply["parameters"],
      reply["error"] == nil
    else {
      hasEnded = true
      simulation.trace.add("a monitor of \(room) ends: \(String(decoding: message, as: UTF8.self))")
      return
    }
    if let whole = parameters["room"] {
      report = MergePatch.normalized(whole)
    } else if let patch = parameters["patch"], let before = report {
      simulation.count("patch")
      report = MergePatch.apply(patch, to: before)
    }
  }
}

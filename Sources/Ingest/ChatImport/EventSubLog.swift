import JSON

/// Translates logged notifications of EventSub: messages of its WebSocket, or bodies of its
/// webhooks.
enum EventSubLog {
  private static let shape = JSONShape.object(["message_timestamp": .time, "message_id": .text])

  static func translate(_ value: JSONValue, into lines: inout NativeLines) {
    let metadata = value["metadata"]
    let payload = value["payload"] ?? value
    guard let subscription = payload["subscription"], let type = subscription.word("type"),
      let event = payload["event"]
    else {
      // Logs of the WebSocket also contain welcome and keepalive messages.
      if metadata?.text("message_type") == nil { lines.count(unknown: "no notification") }
      return
    }
    lines.count(misfitsOf: metadata, shape, named: "metadata")
    EventSub.translate(
      EventSub.Notification(
        type: type, event: event,
        time: metadata?.time("message_timestamp") ?? subscription.time("created_at"),
        id: metadata?.text("message_id")),
      into: &lines)
  }
}

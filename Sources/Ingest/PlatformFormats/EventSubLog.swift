import JSON

/// Notifications of EventSub, one per line: messages of its WebSocket, or bodies of its webhooks.
enum EventSubLog {
  static func translate(_ line: [UInt8], into lines: inout NativeLines) {
    guard !line.allSatisfy({ $0 == 0x20 || $0 == 0x0D }) else { return }
    guard let value = try? JSONValue(parsing: line) else { return lines.note(unknown: "malformed") }
    let metadata = value["metadata"]
    let payload = value["payload"] ?? value
    guard let subscription = payload["subscription"], let type = subscription.word("type"),
      let event = payload["event"]
    else {
      // A log of the WebSocket has welcomes and keepalives as well.
      if metadata?.text("message_type") == nil { lines.note(unknown: "no notification") }
      return
    }
    EventSub.translate(
      EventSub.Notification(
        type: type, event: event,
        time: metadata?.time("message_timestamp") ?? subscription.time("created_at"),
        id: metadata?.text("message_id")),
      into: &lines)
  }
}

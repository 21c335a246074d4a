import JSON
import NIOCore
import Varlink

/// The body of `MonitorRoom` and `MonitorScreen`: the whole state, then patches, as fast as the client
/// reads.
struct RoomMonitor {
  let feed: RoomFeed
  /// The member of the first reply that has the whole state.
  var whole = "room"
  /// Nil means all.
  let features: Set<Feature>?
  /// Time between replies; nil means as fast as states come.
  let interval: Duration?
  let sleep: @Sendable (Duration) async throws -> Void

  /// Returns the only reply to a call without `more`; otherwise ends by throwing.
  func run(wantsMore: Bool, _ replies: ReplyStream) async throws -> ByteBuffer {
    feed.subscribe()
    defer { feed.unsubscribe() }
    var last = view(try await feed.next(after: 0))
    let first = JSONValue.object([
      whole: last.room, "sequence": .integer(Int64(last.sequence)),
    ])
    if !wantsMore { return first.buffer() }
    try await replies.send(parameters: first.buffer())
    while true {
      if let interval { try await sleep(interval) }
      // Wait for the reader first and look for the newest state then: what came in between is
      // merged into one patch.
      try await replies.waitUntilWritable()
      let next = view(try await feed.next(after: last.sequence))
      if let patch = feed.patch(from: last, to: next, features: features) {
        try await replies.send(parameters: patch)
      }
      last = next
    }
  }

  private func view(
    _ state: (sequence: UInt64, room: JSONValue)
  ) -> (sequence: UInt64, room: JSONValue) {
    guard let features, case .object(var members) = state.room,
      case .object(let parts)? = members["features"]
    else { return state }
    members["features"] = .object(
      parts.filter { name, _ in Feature(rawValue: name).map(features.contains) ?? true })
    return (state.sequence, .object(members))
  }
}

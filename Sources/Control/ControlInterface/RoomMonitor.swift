import JSON
import NIOCore
import Varlink

/// Implements `MonitorRoom` and `MonitorScreen`. Sends the complete state, then patches, at most as
/// fast as the client reads.
struct RoomMonitor {
  let feed: RoomFeed
  /// The member of the first reply that contains the complete state.
  var whole = "room"
  /// The features to send; nil means all.
  let features: Set<Feature>?
  /// The time between replies; nil sends every change, as fast as the client reads.
  let interval: Duration?
  let sleep: @Sendable (Duration) async throws -> Void

  /// How long before its next reply is due a monitor requests a reading. This is slightly longer
  /// than a frame, so that a room that changes in every frame provides the reading in time and need
  /// not be visited.
  private var lead: Duration { min(.milliseconds(20), interval ?? .zero) }

  /// Sends the state and its patches until an error ends the monitor, which this function throws.
  /// For a call without `more`, returns the only reply instead.
  func run(wantsMore: Bool, _ replies: ReplyStream) async throws -> ByteBuffer {
    feed.addMonitor(of: features)
    defer { feed.removeMonitor(of: features) }
    var last = try await feed.next(after: 0, features: features)
    let first = JSONValue.object([
      JSONName(whole): last.value, "sequence": .integer(Int64(last.number)),
    ])
    if !wantsMore { return first.buffer() }
    try await replies.send(parameters: first.buffer())
    while true {
      // The room is read only after this pause, so that all changes during the pause are merged
      // into one patch.
      if let interval { try await pause(interval - lead) }
      try await replies.waitUntilWritable()
      let recent = feed.awaitReading(features)
      if interval != nil { try await pause(lead) }
      let next = try await feed.next(after: last.number, recent: recent, features: features)
      if let patch = feed.patch(from: last, to: next, features: features) {
        try await replies.send(parameters: patch)
      }
      last = next
    }
  }

  /// Sleeps until the interval has elapsed, or until the room ends. The room's last state and its
  /// end are therefore sent without delay.
  private func pause(_ duration: Duration) async throws {
    if feed.hasEnded() { return }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { [sleep] in try await sleep(duration) }
      group.addTask { [feed] in await feed.waitForEnd() }
      try await group.next()
      group.cancelAll()
    }
  }
}

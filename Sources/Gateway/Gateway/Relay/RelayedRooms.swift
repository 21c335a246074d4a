import ControlInterface
import JSON
import Varlink

/// The rooms that are monitored through this relay. While a room has viewers, the relay has one
/// monitoring call to its origin for each form that they watch (state or screen), however many
/// viewers there are.
package actor RelayedRooms {
  private struct Key: Hashable {
    let room: String
    let form: RelayedRoom.Form
  }

  private typealias Follower = (number: Int, task: Task<Void, Never>)

  private struct Watched {
    let room: RelayedRoom
    /// The task that monitors the room at its origin, and a number that distinguishes this task
    /// from earlier tasks.
    var follower: Follower
    var viewers = 0
  }

  private let origin: OriginLookup
  private let maximumRate: Double?
  private var rooms: [Key: Watched] = [:]
  private var followers = 0

  /// - Parameter maximumRate: the number of states per second to request; `nil` for all.
  init(origin: @escaping OriginLookup, maximumRate: Double?) {
    (self.origin, self.maximumRate) = (origin, maximumRate)
  }

  /// The number of monitoring calls to origins.
  package var count: Int { rooms.count }

  /// Calls `body` with the feed of a room once its state is known.
  func watch<R: Sendable>(
    _ room: String, as form: RelayedRoom.Form, _ body: @Sendable (RoomFeed) async throws -> R
  ) async throws -> R {
    let key = Key(room: room, form: form)
    let relayed = enter(key)
    defer { leave(key, relayed) }
    try await relayed.begin()
    return try await body(relayed.feed)
  }

  /// For each room for which `hasMoved` returns true, looks up the origin again and monitors the
  /// room there.
  ///
  /// The room's viewers keep the old state until the new origin has sent a state. If the new origin
  /// cannot be reached, the viewers' monitors end.
  package func reroute(where hasMoved: @Sendable (_ room: String) -> Bool) {
    for (key, watched) in rooms where hasMoved(key.room) {
      watched.follower.task.cancel()
      rooms[key]?.follower = follow(key, watched.room, after: watched.follower.task)
    }
  }

  private func enter(_ key: Key) -> RelayedRoom {
    if let watched = rooms[key] {
      rooms[key]?.viewers += 1
      return watched.room
    }
    let room = RelayedRoom()
    rooms[key] = Watched(room: room, follower: follow(key, room), viewers: 1)
    return room
  }

  private func leave(_ key: Key, _ room: RelayedRoom) {
    guard rooms[key]?.room === room else { return }
    rooms[key]?.viewers -= 1
    if rooms[key]?.viewers == 0 { rooms.removeValue(forKey: key)?.follower.task.cancel() }
  }

  private func follow(
    _ key: Key, _ room: RelayedRoom, after former: Task<Void, Never>? = nil
  ) -> Follower {
    followers += 1
    let number = followers
    let task = Task { [origin, maximumRate] in
      // The previous task may still be passing on a state, which must not replace a newer one.
      await former?.value
      let end = await Self.follow(key, room, origin, maximumRate)
      finish(key, number, end)
    }
    return (number, task)
  }

  /// Ends a room whose task has ended, unless another task monitors the room now.
  private func finish(_ key: Key, _ number: Int, _ end: (any Error)?) {
    guard let watched = rooms[key], watched.follower.number == number else { return }
    // The room is removed, so that the next viewer looks up the origin again.
    rooms[key] = nil
    watched.room.end(end)
  }

  /// Monitors a room at its origin until the room is closed or its daemon is gone. Returns the
  /// reason.
  private static func follow(
    _ key: Key, _ relayed: RelayedRoom, _ origin: OriginLookup, _ maximumRate: Double?
  ) async -> (any Error)? {
    do {
      let client = ControlClient(
        try await VarlinkClient.connect(path: try await origin(key.room)))
      switch key.form {
      case .room:
        for try await element in try client.monitorRoom(key.room, maximumRate: maximumRate) {
          relayed.update(element.value)
        }
      case .screen:
        for try await element in try client.monitorScreen(key.room, maximumRate: maximumRate) {
          relayed.update(element.value)
        }
      }
      return nil
    } catch {
      guard case .remote(let reply)? = error as? VarlinkClientError else { return error }
      return ControlError(reply) ?? reply
    }
  }
}

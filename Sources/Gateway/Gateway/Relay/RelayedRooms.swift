import ControlInterface
import JSON
import Varlink

/// The rooms that are watched through this relay: each has one monitor at its origin, in either form, as long as
/// anybody watches, however many do.
package actor RelayedRooms {
  private struct Key: Hashable {
    let room: String
    let form: RelayedRoom.Form
  }

  private struct Watched {
    let room: RelayedRoom
    let task: Task<Void, Never>
    var viewers = 0
  }

  private let origin: Origin
  private let maximumRate: Double?
  private var rooms: [Key: Watched] = [:]

  /// - Parameter maximumRate: states per second that are asked for; nil means all.
  init(origin: @escaping Origin, maximumRate: Double?) {
    (self.origin, self.maximumRate) = (origin, maximumRate)
  }

  /// How many monitors there are at the origin.
  package var count: Int { rooms.count }

  /// Calls `body` with a room, once its state is known.
  func watch<R: Sendable>(
    _ room: String, as form: RelayedRoom.Form, _ body: @Sendable (RoomFeed) async throws -> R
  ) async throws -> R {
    let key = Key(room: room, form: form)
    let relayed = enter(key)
    defer { leave(key, relayed) }
    try await relayed.begin()
    return try await body(relayed.feed)
  }

  private func enter(_ key: Key) -> RelayedRoom {
    if let watched = rooms[key] {
      rooms[key]?.viewers += 1
      return watched.room
    }
    let room = RelayedRoom()
    let task = Task { [origin, maximumRate] in
      let end = await Self.follow(key, room, origin, maximumRate)
      // Whoever comes next asks anew.
      forget(key, room)
      room.end(end)
    }
    rooms[key] = Watched(room: room, task: task, viewers: 1)
    return room
  }

  private func leave(_ key: Key, _ room: RelayedRoom) {
    guard rooms[key]?.room === room else { return }
    rooms[key]?.viewers -= 1
    if rooms[key]?.viewers == 0 { rooms.removeValue(forKey: key)?.task.cancel() }
  }

  private func forget(_ key: Key, _ room: RelayedRoom) {
    if rooms[key]?.room === room { rooms[key] = nil }
  }

  /// Follows a room until it is closed or its daemon is gone; returns why.
  private static func follow(
    _ key: Key, _ relayed: RelayedRoom, _ origin: Origin, _ maximumRate: Double?
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

import ControlInterface
import JSON
import Varlink

/// The rooms that browsers watch. For each room and each form of its state, there is one call to
/// the daemon as long as any browser watches.
actor WatchedRooms {
  private struct Key: Hashable {
    let room: String
    let form: WatchedForm
  }

  private struct Watched {
    let state: RoomState
    let task: Task<Void, Never>
    var streams = 0
  }

  private let controlSocket: String
  private let maximumRate: Double
  private let pause: @Sendable () async throws -> Void
  private var rooms: [Key: Watched] = [:]

  /// - Parameters:
  ///   - maximumRate: the maximum number of changes per second that streams receive.
  ///   - pause: a function that waits, and returns when idle streams must send `alive` the next
  ///     time.
  init(
    controlSocket: String, maximumRate: Double, pause: @escaping @Sendable () async throws -> Void
  ) {
    (self.controlSocket, self.maximumRate, self.pause) = (controlSocket, maximumRate, pause)
  }

  /// The number of watched rooms. A room that is watched in two forms counts twice.
  var count: Int { rooms.count }

  /// Calls `body` with the state of a room, once there is a state.
  func watch<R: Sendable>(
    _ room: String, as form: WatchedForm, _ body: @Sendable (RoomState) async throws -> R
  ) async throws -> R {
    let key = Key(room: room, form: form)
    let state = enter(key)
    defer { leave(key, state) }
    try await state.begin()
    return try await body(state)
  }

  private func enter(_ key: Key) -> RoomState {
    if rooms[key] == nil {
      let state = RoomState()
      let task = Task { [controlSocket, maximumRate, pause] in
        async let waking: Void = Self.wake(state, pause)
        let end = await Self.follow(key, state, controlSocket, maximumRate)
        state.end(end)
        forget(key, state)
        _ = await waking
      }
      rooms[key] = Watched(state: state, task: task)
    }
    rooms[key]?.streams += 1
    return rooms[key]!.state
  }

  private func leave(_ key: Key, _ state: RoomState) {
    guard rooms[key]?.state === state else { return }
    rooms[key]?.streams -= 1
    guard rooms[key]?.streams == 0 else { return }
    rooms.removeValue(forKey: key)?.task.cancel()
  }

  /// Removes a room whose call to the daemon has ended, so that the next stream makes a new call.
  private func forget(_ key: Key, _ state: RoomState) {
    guard rooms[key]?.state === state else { return }
    rooms.removeValue(forKey: key)?.task.cancel()
  }

  private static func wake(
    _ state: RoomState, _ pause: @Sendable () async throws -> Void
  ) async {
    while (try? await pause()) != nil, !Task.isCancelled { state.wake() }
  }

  /// Monitors a room until the room is closed or the daemon ends. Returns the error; nil for an
  /// orderly end.
  private static func follow(
    _ key: Key, _ state: RoomState, _ controlSocket: String, _ maximumRate: Double
  ) async -> VarlinkClientError? {
    do {
      let client = ControlClient(try await VarlinkClient.connect(path: controlSocket))
      switch key.form {
      case .room:
        for try await element in try client.monitorRoom(key.room, maximumRate: maximumRate) {
          state.update(element.value, sequence: element.reply.sequence)
        }
      case .screen:
        for try await element in try client.monitorScreen(key.room, maximumRate: maximumRate) {
          state.update(element.value, sequence: element.reply.sequence)
        }
      }
      return nil
    } catch {
      return error
    }
  }
}

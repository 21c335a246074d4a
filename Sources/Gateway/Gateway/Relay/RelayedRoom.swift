package import ControlInterface
package import JSON
import Locking
import SystemSupport

/// A copy of a room of another daemon. One monitoring call to that daemon keeps the copy up to date
/// for all monitors of this relay.
package final class RelayedRoom: Sendable {
  package enum Form: Sendable {
    /// The output of `MonitorRoom`.
    case room
    /// The output of `MonitorScreen`.
    case screen
  }

  private final class Contents: Sendable {
    private let state = Guarded<(value: JSONValue?, end: (any Error)?)>((nil, nil))

    var value: JSONValue? { state.withLock { $0.value } }
    var end: (any Error)? { state.withLock { $0.end } }
    var isAwaited: Bool { state.withLock { $0.value == nil && $0.end == nil } }

    func set(_ value: JSONValue) { state.withLock { $0.value = value } }

    func finish(_ error: any Error) { state.withLock { $0.end = $0.end ?? error } }

    @Sendable func reading(_ features: Set<Feature>?) -> RoomFeed.Reading {
      let value = value ?? .null
      return { RelayedRoom.keeping(features, of: value) }
    }
  }

  /// The feed of this relay's monitors.
  package let feed: RoomFeed
  private let contents = Contents()
  private let change = ChangeSignal()

  package init() {
    feed = RoomFeed { [contents] features in contents.reading(features) }
  }

  /// Replaces the state with a newer state, which must be complete.
  package func update(_ value: JSONValue) {
    contents.set(value)
    feed.markStale(contents.reading)
    change.raise()
  }

  /// Ends the room because the monitoring call to the origin ended, either with the error for a
  /// closed room or because the origin cannot be reached.
  package func end(_ error: (any Error)?) {
    contents.finish(error ?? CancellationError())
    if let error = error as? ControlError { feed.finish(error) } else { feed.abandon() }
    change.raise()
  }

  /// Waits for the first state. Throws the reason if there will be none.
  package func begin() async throws {
    await change.wait { [contents] in contents.isAwaited }
    try Task.checkCancellation()
    if contents.value == nil { throw contents.end ?? CancellationError() }
  }

  /// Returns the report of a room without the features that were not requested.
  private static func keeping(_ features: Set<Feature>?, of room: JSONValue) -> JSONValue {
    guard let features, case .object(var members) = room,
      case .object(let all)? = members["features"]
    else { return room }
    let names = Set(features.map { JSONName($0.rawValue) })
    members["features"] = .object(all.filter { names.contains($0.key) })
    return .object(members)
  }
}

package import LiveEvents
import Synchronization

/// A room from its opening until it is closed. A later room of its name has another lifetime.
///
/// Lifetimes are numbered, because a room may be reopened on another lane before its previous
/// lifetime is over.
package final class RoomLifetime: Sendable {
  let room: RoomName
  let number: UInt64
  /// Whether the room is closed for good.
  let isGone = Atomic<Bool>(false)
  private static let count = Atomic<UInt64>(0)
  private let snapshots: Atomic<UInt64>
  private weak let lane: HostLane?

  /// - Parameter lane: the lane of the room; `nil` if it is not open.
  package init(_ room: RoomName, on lane: HostLane? = nil) {
    (self.room, self.lane) = (room, lane)
    number = Self.count.wrappingAdd(1, ordering: .relaxed).newValue
    snapshots = Atomic(0)
  }

  /// What remains of a lifetime while its room is hibernated.
  struct Rest {
    fileprivate let number: UInt64
    fileprivate let snapshots: UInt64
  }

  var rest: Rest { Rest(number: number, snapshots: snapshots.load(ordering: .relaxed)) }

  /// Continues the lifetime of a room that was hibernated.
  init(_ room: RoomName, on lane: HostLane?, _ rest: Rest) {
    (self.room, self.lane) = (room, lane)
    number = rest.number
    snapshots = Atomic(rest.snapshots)
  }

  package var name: String { room.description }

  /// Returns the number of the room's next snapshot. Call it when the snapshot is taken, since a
  /// newer one may be posted earlier.
  package func nextSnapshot() -> UInt64 {
    snapshots.wrappingAdd(1, ordering: .relaxed).newValue
  }

  /// Calls `body` with the room on its lane; with `nil` if the room is closed.
  func postVisit(_ body: @escaping @Sendable (Room?) -> Void) {
    guard let lane else { return body(nil) }
    lane.postVisit(to: room) { [self] found in body(found?.life === self ? found : nil) }
  }

  /// Calls `body` with the room on its lane, and returns its result.
  func visit<R: Sendable>(_ body: @escaping @Sendable (Room?) -> R) async -> R {
    await withCheckedContinuation { continuation in
      postVisit { continuation.resume(returning: body($0)) }
    }
  }
}

package import LiveEvents
import Synchronization

/// The lifetime of a room, from its opening until it is closed. A later room with the same name has
/// a new lifetime.
///
/// Lifetimes are numbered, because a room may be reopened on another lane before its previous
/// lifetime is over.
package final class RoomLifetime: Sendable {
  let room: RoomName
  let number: UInt64
  /// Whether the room is closed permanently.
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

  /// Returns the number of the room's next snapshot. Must be called when the snapshot is taken,
  /// because a newer snapshot may be posted first.
  package func nextSnapshot() -> UInt64 {
    snapshots.wrappingAdd(1, ordering: .relaxed).newValue
  }

  /// Calls `body` on the room's lane with the room, or with `nil` if the room is closed.
  func postVisit(_ body: @escaping @Sendable (Room?) -> Void) {
    guard let lane else { return body(nil) }
    lane.postVisit(to: room) { [self] found in body(found?.life === self ? found : nil) }
  }

  /// Calls `body` on the room's lane with the room, or with `nil` if the room is closed, and
  /// returns the result of `body`.
  func visit<R: Sendable>(_ body: @escaping @Sendable (Room?) -> R) async -> R {
    await withCheckedContinuation { continuation in
      postVisit { continuation.resume(returning: body($0)) }
    }
  }
}

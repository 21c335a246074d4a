package import LiveEvents
import Locking
import SystemSupport

/// The open rooms, and the lane of each. May be used from any thread.
package final class RoomDirectory: Sendable {
  private struct State: Sendable {
    var lanes: [RoomName: Int] = [:]
    /// For each name of rooms that are being closed, their lane and their number. A new room with
    /// such a name gets the same lane, so that its log begins after the log of the old room has
    /// ended.
    var closing: [RoomName: (lane: Int, count: Int)] = [:]
    /// The number of rooms opened so far, which distributes rooms evenly over the lanes.
    var opened = 0
    var isClosing = false
    var maximum: Int
  }

  /// The reason why a room cannot be opened.
  package enum Refusal: Error, Equatable { case exists, tooMany, closing }

  package let lanes: [HostLane]
  private let state: Guarded<State>
  private let observer: RoomObserver

  /// - Parameter observer: notified of each room that is opened, closed or suspended.
  package init(
    lanes: [HostLane], maximumRooms: Int, observer: @escaping RoomObserver = { _, _ in }
  ) {
    self.lanes = lanes
    state = Guarded(State(maximum: maximumRooms))
    self.observer = observer
  }

  package var count: Int { state.withLock { $0.lanes.count } }

  package func lane(of room: RoomName) -> HostLane? {
    state.withLock { $0.lanes[room] }.map { lanes[$0] }
  }

  /// Returns the lane of a room, and opens the room if necessary; returns `nil` if the maximum
  /// number of rooms is open.
  ///
  /// Deliveries posted to the lane afterwards find the room, because its opening is posted to the
  /// same mailbox first.
  package func laneOpening(_ room: RoomName) -> HostLane? {
    if let lane = lane(of: room) { return lane }
    do throws(Refusal) {
      return try open(room)
    } catch {
      // Another thread may have opened the room in the meantime.
      return error == .exists ? lane(of: room) : nil
    }
  }

  /// Applies changed settings, some of which affect open rooms, and others only new rooms.
  package func apply(_ settings: RoomSettings) {
    state.withLock { $0.maximum = settings.maximumRooms }
    for lane in lanes { lane.postSettings(settings) }
  }

  /// Opens a new room, or a room restored from a snapshot. Rooms that were open at the last stop
  /// are restored even if the maximum is lower now.
  @discardableResult
  package func open(
    _ room: RoomName, restoring snapshot: RoomSnapshot? = nil
  ) throws(Refusal) -> HostLane {
    let result: Result<Int, Refusal> = state.withLock { state in
      if state.isClosing { return .failure(.closing) }
      if state.lanes[room] != nil { return .failure(.exists) }
      if snapshot == nil, state.lanes.count >= state.maximum { return .failure(.tooMany) }
      let index = state.closing[room]?.lane ?? state.opened % lanes.count
      state.opened += 1
      state.lanes[room] = index
      // The opening is posted under the lock, so that no delivery is posted between the entry and
      // the opening.
      lanes[index].postOpening(of: room, restoring: snapshot)
      return .success(index)
    }
    let lane = lanes[try result.get()]
    observer(room, snapshot == nil ? .opened : .restored)
    return lane
  }

  /// Closes a room and returns once it is closed; returns `false` if it is not open. Calls
  /// `onFailure` with the reason if the next start may restore the room nevertheless.
  package func close(_ room: RoomName, onFailure: (String) -> Void = { _ in }) async -> Bool {
    await end(room, isForGood: true, onFailure: onFailure)
  }

  private func end(
    _ room: RoomName, isForGood: Bool, onFailure: (String) -> Void = { _ in }
  ) async -> Bool {
    let (isClosed, failure) = await withCheckedContinuation { continuation in
      postEnd(of: room, isForGood: isForGood) { continuation.resume(returning: ($0, $1)) }
    }
    if let failure { onFailure(failure) }
    return isClosed
  }

  /// Calls `completion` once a room is closed, or immediately if it is not open. Passes the reason
  /// if the next start may restore the room.
  private func postEnd(
    of room: RoomName, isForGood: Bool,
    completion: @escaping @Sendable (_ isClosed: Bool, _ failure: String?) -> Void
  ) {
    let isOpen = state.withLock { state in
      guard let index = state.lanes.removeValue(forKey: room) else { return false }
      state.closing[room, default: (index, 0)].count += 1
      lanes[index].postClosing(of: room, isForGood: isForGood) { failure in
        self.state.withLock { state in
          state.closing[room]?.count -= 1
          if state.closing[room]?.count == 0 { state.closing[room] = nil }
        }
        self.observer(room, isForGood ? .closed : .suspended)
        completion(true, failure)
      }
      return true
    }
    if !isOpen { completion(false, nil) }
  }

  /// Refuses to open more rooms, then draws a last frame of every open room and ends the room. The
  /// next start restores the saved rooms.
  package func closeAll() async {
    let rooms = state.withLock { state in
      state.isClosing = true
      return state.lanes.keys.sorted()
    }
    // All rooms are closed concurrently, because each waits only for its own lane.
    await forAll(rooms) { room, done in
      postEnd(of: room, isForGood: false) { _, _ in done() }
    }
  }
}

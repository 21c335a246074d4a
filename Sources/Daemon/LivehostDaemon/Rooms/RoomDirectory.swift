package import LiveEvents
import Locking
import SystemSupport

/// The open rooms, and the lane of each. May be used from any thread.
package final class RoomDirectory: Sendable {
  private struct State: Sendable {
    var lanes: [RoomName: Int] = [:]
    /// The lanes of rooms that are being closed, and how often. A room of the same name comes to
    /// the same lane, behind them: everything that they log, their end last, is in front of its
    /// beginning.
    var closing: [RoomName: (lane: Int, count: Int)] = [:]
    /// Number of rooms opened so far; spreads rooms over the lanes in turn.
    var opened = 0
    var isClosing = false
    /// How many rooms may be open.
    var maximum: Int
  }

  /// Why a room cannot be opened.
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

  /// The lane of an open room.
  package func lane(of room: RoomName) -> HostLane? {
    state.withLock { $0.lanes[room] }.map { lanes[$0] }
  }

  /// The lane of a room, which is opened if it is not; `nil` if no more may be open.
  ///
  /// Deliveries posted to the lane afterwards find the room there: opening goes through the same
  /// mailbox before them.
  package func laneOpening(_ room: RoomName) -> HostLane? {
    if let lane = lane(of: room) { return lane }
    do throws(Refusal) {
      return try open(room)
    } catch {
      // The room has been opened in between.
      return error == .exists ? lane(of: room) : nil
    }
  }

  /// Puts changed settings in force: for open rooms, those they read as they run; the rest for new
  /// rooms.
  package func apply(_ settings: RoomSettings) {
    state.withLock { $0.maximum = settings.maximumRooms }
    for lane in lanes { lane.postSettings(settings) }
  }

  /// Opens a room, a new one or that of a snapshot. Those that were open at the last stop come back
  /// even if fewer are allowed now.
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
      // Under the lock, so that no delivery is posted between the entry and the opening.
      lanes[index].postOpening(of: room, restoring: snapshot)
      return .success(index)
    }
    let lane = lanes[try result.get()]
    observer(room, snapshot == nil ? .opened : .restored)
    return lane
  }

  /// Closes a room. Returns once it is closed; `false` if there is none.
  ///
  /// - Parameter onFailure: called with why it may be back at the next start, if so.
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

  /// Calls `completion` once a room is closed, or at once if there is none; with why it may be back
  /// at the next start.
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

  /// Refuses to open more rooms, and draws and ends all open ones, in the order of their names.
  /// Those that are saved come back at the next start.
  package func closeAll() async {
    let rooms = state.withLock { state in
      state.isClosing = true
      return state.lanes.keys.sorted()
    }
    // All at once: each waits for its lane only.
    await forAll(rooms) { room, done in
      postEnd(of: room, isForGood: false) { _, _ in done() }
    }
  }
}

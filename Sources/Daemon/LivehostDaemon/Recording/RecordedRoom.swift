import LiveEvents

/// A room as its recorder knows it: by the time that something is done, another one may have its name.
struct RecordedRoom: Sendable {
  let name: RoomName
  let life: RoomLifetime
  let lane: HostLane

  /// Runs `body` with the room on its lane; with nil if it is gone.
  func postVisit(_ body: @escaping @Sendable (Room?) -> Void) {
    lane.postVisit(to: name) { [life] in body($0?.life === life ? $0 : nil) }
  }

  /// The same, and returns its result.
  func visit<R: Sendable>(_ body: @escaping @Sendable (Room?) -> R) async -> R {
    await lane.visit(name) { [life] in body($0?.life === life ? $0 : nil) }
  }
}

package import ControlInterface
package import HostScreen
package import LiveEvents

extension HostLane {
  /// Reads from a room, after everything posted for it earlier; returns `nil` if the room is not
  /// open. The hang monitor attributes the time of the reading to the activity `report`.
  func read<R: Sendable>(_ name: RoomName, _ body: @escaping @Sendable (Room) -> R) async -> R? {
    await visit(name) { [meter] room in
      guard let room else { return nil }
      meter.activity.begin(.report, in: name)
      return body(room)
    }
  }

  /// Returns a room in the form of `GetRoom`, with the given features or, if nil, with all.
  /// Encoding runs on the caller's thread, not on the lane.
  package func report(_ name: RoomName, features: Set<Feature>? = nil) async -> RoomReport? {
    await read(name) { $0.read(features) }.map(RoomReport.init)
  }

  /// Returns the sources of a room; `nil` if the room is not open.
  package func sources(of name: RoomName) async -> [SourceReport]? {
    await read(name) { $0.sources }
  }

  /// Returns the newest batch number of each source in a room; `nil` if the room is not open.
  package func positions(of name: RoomName) async -> [String: Int]? {
    await read(name) { $0.known.positions }
  }

  /// Returns why a view of a room was evaluated; `nil` if the room is not open.
  package func explain(
    _ view: String, of name: RoomName
  ) async throws(ControlError) -> Explanation? {
    let found = await read(name) { Explanation(of: view, on: $0.screen) }
    guard let explanation = found else { return nil }
    guard let explanation else { throw .noSuchView(room: name.description, view: view) }
    return explanation
  }

  /// Returns the feeds of a room's state and of its screen, for monitors.
  package func feeds(_ name: RoomName) async -> (room: RoomFeed, screen: RoomFeed)? {
    await visit(name) { room in room.map { ($0.feed, $0.screenFeed) } }
  }

  /// Returns the sources of each room that has any.
  package func sources() async -> [String: [SourceReport]] {
    await survey { rooms in
      var all = rooms.open.mapValues(\.sources)
      all.merge(rooms.hibernated.sources) { _, idle in idle }
      return Dictionary(
        uniqueKeysWithValues: all.lazy.filter { !$0.value.isEmpty }
          .map { ($0.key.description, $0.value) })
    }
  }

  package func metrics() async -> [RoomMetrics] {
    await survey { [meter] rooms in
      rooms.open.map { name, room in
        meter.activity.begin(.report, in: name)
        return room.metrics
      } + rooms.hibernated.metrics
    }
  }

  package func summaries() async -> [RoomSummary] {
    await survey { $0.open.values.map(\.summary) + $0.hibernated.summaries }
  }

  package func hibernatedCount() async -> Int { await survey(\.hibernated.count) }

  /// Returns the totals over all rooms of this lane, including closed ones.
  package func counts() async -> EventCounts {
    await survey { rooms in
      var counts = rooms.closed
      counts.add(rooms.hibernated.counts)
      return rooms.open.values.reduce(into: counts) { $0.add($1.counts) }
    }
  }
}

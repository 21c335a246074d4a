package import ControlInterface
package import HostScreen
package import LiveEvents

// What is read of rooms.
extension HostLane {
  /// Reads from a room, after all that was posted for it before; `nil` if there is no such room.
  /// The hang monitor calls this activity a report.
  func read<R: Sendable>(_ name: RoomName, _ body: @escaping @Sendable (Room) -> R) async -> R? {
    await visit(name) { [meter] room in
      guard let room else { return nil }
      meter.activity.begin(.report, in: name)
      return body(room)
    }
  }

  /// A room as `GetRoom` describes it, put together where the caller runs.
  ///
  /// - Parameter features: those to report; nil means all of them.
  package func report(_ name: RoomName, features: Set<Feature>? = nil) async -> RoomReport? {
    await read(name) { $0.read(features) }.map(RoomReport.init)
  }

  /// The sources of a room; `nil` if there is no such room.
  package func sources(of name: RoomName) async -> [SourceReport]? {
    await read(name) { $0.sources }
  }

  /// The newest batch that a room holds, by source; `nil` if there is no such room.
  package func positions(of name: RoomName) async -> [String: Int]? {
    await read(name) { $0.known.positions }
  }

  /// Why a view of a room was evaluated; `nil` if there is no such room.
  package func explain(
    _ view: String, of name: RoomName
  ) async throws(ControlError) -> Explanation? {
    let found = await read(name) { Explanation(of: view, on: $0.screen) }
    guard let explanation = found else { return nil }
    guard let explanation else { throw .noSuchView(room: name.description, view: view) }
    return explanation
  }

  /// The states of a room for its monitors, and those of its screen.
  package func feeds(_ name: RoomName) async -> (room: RoomFeed, screen: RoomFeed)? {
    await visit(name) { room in room.map { ($0.feed, $0.screenFeed) } }
  }

  /// The sources of each room that has some.
  package func sources() async -> [String: [SourceReport]] {
    await survey { rooms in
      var all = rooms.open.mapValues(\.sources)
      all.merge(rooms.packed.sources) { _, idle in idle }
      return Dictionary(
        uniqueKeysWithValues: all.lazy.filter { !$0.value.isEmpty }
          .map { ($0.key.description, $0.value) })
    }
  }

  /// What metrics say about the rooms.
  package func metrics() async -> [RoomMetrics] {
    await survey { [meter] rooms in
      rooms.open.map { name, room in
        meter.activity.begin(.report, in: name)
        return room.metrics
      } + rooms.packed.metrics
    }
  }

  package func summaries() async -> [RoomSummary] {
    await survey { $0.open.values.map(\.summary) + $0.packed.summaries }
  }

  /// How many rooms are packed.
  package func packedCount() async -> Int { await survey(\.packed.count) }

  /// The totals of the rooms of this lane, including closed ones.
  package func counts() async -> EventCounts {
    await survey { rooms in
      var counts = rooms.closed
      counts.add(rooms.packed.counts)
      return rooms.open.values.reduce(into: counts) { $0.add($1.counts) }
    }
  }
}

package import ControlInterface
package import HostScreen
package import LiveEvents
import NIOCore

// What is read of rooms, on the lane.
extension HostLane {
  /// Reads from a room; `nil` if there is no such room. The hang monitor calls this activity a
  /// report.
  func read<R>(_ name: RoomName, _ body: (Room) -> R) -> R? {
    meter.measure {
      guard let room = room(named: name, .now()) else { return nil }
      meter.activity.begin(.report, in: name)
      return body(room)
    }
  }

  /// A room as `GetRoom` describes it, put together where the caller runs.
  ///
  /// - Parameter features: those to report; nil means all of them.
  package nonisolated func report(
    _ name: RoomName, features: Set<Feature>? = nil
  ) async -> RoomReport? {
    await read(name) { $0.read(features) }.map(RoomReport.init)
  }

  /// The sources of a room; `nil` if there is no such room.
  package func sources(of name: RoomName) -> [SourceReport]? { read(name) { $0.sources } }

  /// The sources of each room that has some.
  package func sources() -> [String: [SourceReport]] {
    var all = rooms.mapValues(\.sources)
    all.merge(packed.sources) { _, idle in idle }
    return Dictionary(
      uniqueKeysWithValues: all.lazy.filter { !$0.value.isEmpty }
        .map { ($0.key.description, $0.value) })
  }

  /// The newest batch that a room holds, by source; `nil` if there is no such room.
  package func positions(of name: RoomName) -> [String: Int]? { read(name) { $0.known.positions } }

  /// Why a view of a room was evaluated; `nil` if there is no such room.
  package func explain(_ view: String, of name: RoomName) throws(ControlError) -> Explanation? {
    guard let explanation = read(name, { $0.explain(view) }) else { return nil }
    guard let explanation else { throw .noSuchView(room: name.description, view: view) }
    return explanation
  }

  /// The states of a room for its monitors, and those of its screen.
  package func feeds(_ name: RoomName) -> (room: RoomFeed, screen: RoomFeed)? {
    room(named: name, .now()).map { ($0.feed, $0.screenFeed) }
  }

  /// What metrics say about the rooms.
  package func metrics() -> [RoomMetrics] {
    rooms.map { name, room in
      meter.measure {
        meter.activity.begin(.report, in: name)
        return room.metrics()
      }
    } + packed.metrics
  }

  package func summaries() -> [RoomSummary] {
    rooms.values.map { $0.summary() } + packed.summaries
  }

  /// The totals of the rooms of this lane, including closed ones.
  package func counts() -> EventCounts {
    var counts = closed
    counts.add(packed.counts)
    return rooms.values.reduce(into: counts) { $0.add($1.counts) }
  }
}

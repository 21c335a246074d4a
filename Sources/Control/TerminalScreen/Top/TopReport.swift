package import ControlInterface
package import LiveEvents

/// The rooms and views of the daemon, with their rates in the time between two samples.
package struct TopReport: Codable, Equatable, Sendable {
  package struct Room: Codable, Equatable, Sendable {
    package var room: String
    package var phase: StreamState
    package var viewers: Int
    /// The events per second; nil until there are two samples.
    package var eventsPerSecond: Double?
    package var counters: Counters
  }

  package struct View: Codable, Equatable, Sendable {
    package var room: String
    package var view: String
    package var evaluations: Int
    package var avoidable: Int
    package var evaluationsPerSecond: Double?
    /// The percentage of the time between the samples that was spent in evaluations.
    package var loadPercent: Double?
    package var meanMicroseconds: Double
    package var maximumMicroseconds: Int
  }

  package var status: StatusReport
  package var rooms: [Room]
  package var views: [View]
  /// The number of rooms whose views were not requested because there are too many rooms.
  package var roomsWithoutViews: Int
}

/// A sample of the daemon's counters.
package struct TopSample: Sendable {
  /// The time of the sample, in monotonic nanoseconds.
  package var time: UInt64
  package var status: StatusReport
  package var rooms: [RoomSummary]
  /// The views of the busiest rooms, by room.
  package var views: [String: [String: ViewReport]]

  /// The maximum number of rooms whose views are requested; the busiest rooms are chosen.
  package static let maximumRooms = 32

  package init(
    time: UInt64, status: StatusReport, rooms: [RoomSummary],
    views: [String: [String: ViewReport]]
  ) {
    self.time = time
    self.status = status
    self.rooms = rooms
    self.views = views
  }

  /// Returns the rates since an earlier sample.
  package func report(since earlier: TopSample?) -> TopReport {
    let seconds = earlier.map { Double(time - min(time, $0.time)) / 1e9 } ?? 0
    func rate(_ now: Int, _ before: Int?) -> Double? {
      // When a room is closed and opened again, its counts restart at zero.
      guard let before, seconds > 0, now >= before else { return nil }
      return Double(now - before) / seconds
    }
    let received = Dictionary(
      (earlier?.rooms ?? []).map { ($0.room, $0.counters.received) }, uniquingKeysWith: max)
    let rooms = rooms.map { room in
      TopReport.Room(
        room: room.room, phase: room.phase, viewers: room.viewers,
        eventsPerSecond: rate(room.counters.received, received[room.room]),
        counters: room.counters)
    }
    let views = views.flatMap { room, views in
      views.map { name, view in
        let before = earlier?.views[room]?[name]
        let busy = rate(view.totalMicroseconds, before?.totalMicroseconds)
        return TopReport.View(
          room: room, view: name, evaluations: view.evaluations, avoidable: view.avoidable,
          evaluationsPerSecond: rate(view.evaluations, before?.evaluations),
          loadPercent: busy.map { $0 / 1e4 },
          meanMicroseconds: view.evaluations > 0
            ? Double(view.totalMicroseconds) / Double(view.evaluations) : 0,
          maximumMicroseconds: view.maximumMicroseconds)
      }
    }
    return TopReport(
      status: status, rooms: rooms, views: views,
      roomsWithoutViews: max(0, rooms.count - Self.maximumRooms))
  }
}

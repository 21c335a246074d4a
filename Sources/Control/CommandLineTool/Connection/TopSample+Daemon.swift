import ControlInterface
import LiveEvents
import TerminalScreen
import Varlink

extension TopSample {
  /// Samples the daemon. The previous sample shows which rooms are the busiest.
  init(
    _ client: ControlClient, now: @Sendable () -> UInt64, after previous: TopSample?
  ) async throws {
    let status = try await client.getStatus()
    let rooms = try await client.listRooms().rooms
    let time = now()
    let before = Dictionary(
      (previous?.rooms ?? []).map { ($0.room, $0.counters.received) }, uniquingKeysWith: max)
    let busiest = rooms.map { ($0.room, $0.counters.received - (before[$0.room] ?? 0)) }
      .sorted { ($1.1, $0.0) < ($0.1, $1.0) }
    var views: [String: [String: ViewReport]] = [:]
    for (room, _) in busiest.prefix(Self.maximumRooms) {
      do {
        // It does not matter which feature is requested, because every reply contains the views.
        views[room] = try await client.getRoom(room, feature: .header).views
      } catch {
        // The room may have closed since it was listed.
        guard error == .remote(ControlError.noSuchRoom(room).varlinkError) else { throw error }
      }
    }
    self.init(time: time, status: status, rooms: rooms, views: views)
  }
}

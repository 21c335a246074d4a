package import ControlInterface
import CoreMetrics
import HostScreen
package import Ingest
package import Prometheus
package import Rooms
import UnixSockets
import ViewGraph

/// The metrics of the daemon.
///
/// Rare occurrences (a turn of a lane, a hang, a reload) update instruments. All other metrics are
/// read on demand from counts that the daemon maintains anyway. No function here is called per
/// event.
package struct DaemonMetrics: Sendable {
  /// The registry of the instruments, which is also the factory of `MetricsSystem` in the running
  /// daemon.
  package let registry: MetricRegistry

  package init(registry: MetricRegistry = MetricRegistry()) {
    self.registry = registry
    registry.describe(
      Self.turnDuration,
      help: "Duration of the turns of a lane: uninterrupted runs of batches, frames and effects.",
      bounds: [
        0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.010, 0.016, 0.033, 0.1, 0.25, 0.5, 1,
        2.5,
      ])
    registry.describe(
      Self.hangs,
      help: "Turns of a lane of at least 250 ms (class microhang) or at least 500 ms (class hang).")
    registry.describe(Self.reloads, help: "Reloads of the configuration, by result.")
    registry.describe(
      Self.scrubbed, help: "Bytes of recordings that were checked for damage again.")
    registry.describe(
      Self.scrubInterval,
      help: "Time between two checks of a recording for damage; 0 if recordings are not checked.")
    registry.describe(
      Self.deleted, help: "Bytes of recordings that were deleted to enforce the limits.")
    registry.describe(
      Self.maximumAge,
      help: "Time from the end of a recording to its deletion; 0 if there is no limit.")
    registry.describe(
      Self.maximumBytes, help: "Maximum size of all recordings together; 0 if there is no limit.")
    // Each series starts at 0, because a rate does not show the increase of a series that starts at
    // 1.
    for kind in HangKind.allCases {
      for reason in HangReason.allCases { count(kind, reason, by: 0) }
    }
    for succeeded in [true, false] { countReload(succeeded: succeeded, by: 0) }
    countScrubbed(bytes: 0)
    countDeleted(bytes: 0)
  }

  private static let turnDuration = "livehost_turn_duration_seconds"
  private static let hangs = "livehost_hangs_total"
  private static let scrubInterval = "livehost_recordings_scrub_interval_seconds"
  private static let scrubbed = "livehost_recordings_scrubbed_bytes_total"
  private static let deleted = "livehost_recordings_deleted_bytes_total"
  private static let maximumAge = "livehost_recordings_maximum_age_seconds"
  private static let maximumBytes = "livehost_recordings_maximum_bytes"
  private static let reloads = "livehost_configuration_reloads_total"

  /// Returns a closure that records the duration of a turn of a lane, in nanoseconds.
  package func recordTurns(lane: Int) -> @Sendable (UInt64) -> Void {
    let timer = Timer(
      label: Self.turnDuration, dimensions: [("lane", "\(lane)")], factory: registry)
    return { timer.recordNanoseconds(Int64(clamping: $0)) }
  }

  package func count(_ kind: HangKind, _ reason: HangReason, by amount: Int = 1) {
    Counter(
      label: Self.hangs, dimensions: [("class", kind.rawValue), ("reason", reason.rawValue)],
      factory: registry
    ).increment(by: amount)
  }

  package func countReload(succeeded: Bool, by amount: Int = 1) {
    Counter(
      label: Self.reloads, dimensions: [("result", succeeded ? "success" : "failure")],
      factory: registry
    ).increment(by: amount)
  }

  package func recordScrubInterval(days: Int) {
    Gauge(label: Self.scrubInterval, factory: registry).record(days * 86_400)
  }

  package func countScrubbed(bytes: Int) {
    Counter(label: Self.scrubbed, factory: registry).increment(by: bytes)
  }

  package func setRetention(_ limits: RetentionLimits) {
    Gauge(label: Self.maximumAge, factory: registry).record((limits.maximumAge ?? 0) / 1_000)
    Gauge(label: Self.maximumBytes, factory: registry).record(limits.maximumBytes ?? 0)
  }

  package func countDeleted(bytes: Int) {
    Counter(label: Self.deleted, factory: registry).increment(by: bytes)
  }

  /// The values that are collected for each scrape, in addition to the instruments.
  package struct Readings: Sendable {
    package var status: StatusReport
    package var rooms: [RoomMetrics] = []
    package var ingest = IngestServer.Statistics()
    package var recordings = 0
    package var damagedRecordings = 0
    package var tasks = 0
    /// The longest time that each effect ran without yielding, in nanoseconds, by name.
    package var effectSlices: [String: UInt64] = [:]

    package init(status: StatusReport) { self.status = status }
  }

  /// Returns all metrics, sorted by name.
  package func families(_ readings: Readings) -> [MetricFamily] {
    (registry.families() + daemonFamilies(readings) + roomFamilies(readings.rooms)
      + ProcessMetrics.families())
      .sorted { $0.name < $1.name }
  }

  private func daemonFamilies(_ readings: Readings) -> [MetricFamily] {
    let status = readings.status
    var info = MetricFamily("livehost_info", .gauge, help: "Always 1; the version is a label.")
    info.add(1, ["version": status.version])
    var health = MetricFamily(
      "livehost_health", .gauge,
      help: "1 for the current health of the daemon, 0 for every other state.")
    for state in Health.allCases {
      health.add(state == status.health ? 1 : 0, ["state": state.rawValue])
    }
    var rejected = MetricFamily(
      "livehost_events_rejected_total", .counter,
      help: "Rejected events by reason, also of closed rooms and of lines without a known room.")
    for (reason, count) in status.totals.rejectedByReason.sorted(by: { $0.key < $1.key }) {
      rejected.add(count, ["reason": reason])
    }
    var refused = MetricFamily(
      "livehost_client_refusals_total", .counter,
      help: "Refused clients, and resources reclaimed for other clients, by user and resource.")
    for row in status.refusals ?? [] {
      refused.add(
        row.count,
        ["user": row.user.map(String.init) ?? "other", "resource": row.resource.rawValue])
    }
    var slices = MetricFamily(
      "livehost_effect_longest_slice_seconds", .gauge,
      help: "Longest processor time that an effect used without yielding, by name of the effect.")
    for (effect, nanoseconds) in readings.effectSlices.sorted(by: { $0.key < $1.key }) {
      slices.add(Double(nanoseconds) / 1e9, ["effect": effect])
    }
    let connections = readings.ingest
    var ingest = MetricFamily(
      "livehost_ingest_connections_total", .counter,
      help: "Connections to the ingest socket, by result.")
    ingest.add(connections.acceptedConnections, ["result": "accepted"])
    ingest.add(connections.refusedConnections, ["result": "refused"])
    return [
      info, health, rejected, ingest, refused, slices,
      MetricFamily(
        "livehost_lanes", .gauge, Double(status.lanes),
        help: "Lanes, which run the rooms."),
      MetricFamily("livehost_rooms", .gauge, Double(status.rooms), help: "Open rooms."),
      MetricFamily(
        "livehost_rooms_packed", .gauge, Double(status.packedRooms ?? 0),
        help: "Open rooms that hibernate."),
      MetricFamily(
        "livehost_recordings_active", .gauge, Double(readings.recordings),
        help: "Rooms that are currently recorded."),
      MetricFamily(
        "livehost_recordings_damaged", .gauge, Double(readings.damagedRecordings),
        help: "Recordings with known damage."),
      MetricFamily(
        "livehost_tasks_running", .gauge, Double(readings.tasks), help: "Running tasks."),
      MetricFamily(
        "livehost_ingest_connections", .gauge, Double(connections.openConnections),
        help: "Open connections to the ingest socket."),
      MetricFamily(
        "livehost_events_received_total", .counter, Double(status.totals.received),
        help: "Received events, also of closed rooms and of lines without a known room."),
      MetricFamily(
        "livehost_events_applied_total", .counter, Double(status.totals.applied),
        help: "Events whose content reached a reducer, also of closed rooms."),
      MetricFamily(
        "livehost_events_coalesced_total", .counter, Double(status.totals.coalesced),
        help: "Events superseded by a newer value of the same key, also of closed rooms."),
      MetricFamily(
        "livehost_events_pending", .gauge, Double(status.totals.pending),
        help: "Events not yet applied, coalesced or rejected."),
      MetricFamily(
        "livehost_longest_turn_seconds", .gauge, Double(status.longestTurnMicroseconds) / 1e6,
        help: "Longest turn of a lane since the start of the daemon."),
      MetricFamily(
        "livehost_journal_entries_lost_total", .counter, Double(status.journalEntriesLost),
        help: "Journal entries that could not be written."),
    ]
  }

  private func roomFamilies(_ rooms: [RoomMetrics]) -> [MetricFamily] {
    var events = MetricFamily(
      "livehost_room_events_total", .counter,
      help: "Events of an open room, by outcome. Pending events are not included.")
    var received = MetricFamily(
      "livehost_room_events_received_total", .counter, help: "Received events of an open room.")
    var rejected = MetricFamily(
      "livehost_room_events_rejected_total", .counter,
      help: "Rejected events of an open room, by reason.")
    var viewers = MetricFamily("livehost_room_viewers", .gauge, help: "Viewers of the stream.")
    var frames = MetricFamily(
      "livehost_room_frames_total", .counter, help: "Frames drawn.")
    var actions = MetricFamily(
      "livehost_room_actions_total", .counter,
      help: "Actions that the room's reducer handled, by part of the screen.")
    var effects = MetricFamily(
      "livehost_room_effects_total", .counter, help: "Effects started by the room.")
    var evaluations = MetricFamily(
      "livehost_view_evaluations_total", .counter, help: "Evaluations of a view.")
    var avoidable = MetricFamily(
      "livehost_view_avoidable_evaluations_total", .counter,
      help: "Evaluations of a view with the same result as the previous evaluation.")
    var seconds = MetricFamily(
      "livehost_view_evaluation_seconds_total", .counter,
      help: "Time spent in evaluations of a view, excluding the views inside it.")
    for room in rooms.sorted(by: { $0.room < $1.room }) {
      let label = ["room": room.room]
      func labels(_ name: String, _ value: String) -> [String: String] {
        ["room": room.room, name: value]
      }
      received.add(room.counts.received, label)
      events.add(room.counts.applied, labels("outcome", "applied"))
      events.add(room.counts.coalesced, labels("outcome", "coalesced"))
      events.add(room.counts.rejected, labels("outcome", "rejected"))
      for (reason, count) in room.counts.reasons.sorted(by: { $0.key < $1.key }) {
        rejected.add(count, labels("reason", reason))
      }
      viewers.add(room.viewers, label)
      frames.add(room.frames, label)
      effects.add(room.effects, label)
      for (feature, count) in room.actionsByFeature.sorted(by: { $0.key < $1.key }) {
        actions.add(count, labels("feature", feature))
      }
      for (view, statistics) in room.views.sorted(by: { $0.key < $1.key }) {
        evaluations.add(statistics.evaluations, labels("view", view))
        avoidable.add(statistics.avoidable, labels("view", view))
        seconds.add(Double(statistics.selfTotal) / 1e9, labels("view", view))
      }
    }
    return [
      events, received, rejected, viewers, frames, actions, effects, evaluations, avoidable,
      seconds,
    ]
  }
}

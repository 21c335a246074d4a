package import Composable
package import LiveEvents

/// The states of the room's sources, and the outages in which their events are missing.
@Reducer
package struct SourcesFeature {
  /// The maximum number of shown sources. A further source replaces an ended source or, if none has
  /// ended, the source with the oldest report.
  package static let limit = 32

  @ObservableState
  package struct State: Equatable, Sendable, Codable {
    /// The sources in order of arrival.
    package var sources: [Source] = []

    package init() {}
  }

  /// A displayed source, which owns its texts.
  package struct Source: Equatable, Sendable, Codable {
    /// The last report, or `nil` if the source has only reported an outage.
    package var status: SourceHealth?
    package let name: Text
    package var timestamp: Timestamp
    /// The number of outages. ``gapMilliseconds`` is the total duration of outages.
    package var gaps = 0
    package var gapMilliseconds = 0
    package var lastGap: MissedTime?

    init(name: Text, at timestamp: Timestamp) {
      self.name = name
      self.timestamp = timestamp
    }
  }

  package enum Action: Equatable, Sendable {
    /// A source reported its state at this time, according to the source.
    case reported(SourceHealth, at: Timestamp)
    /// A source reported an outage in which events are missing.
    case missed(MissedTime, at: Timestamp)
  }

  package init() {}

  package func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .reported(let status, let time):
      update(status.source, at: time, &state) { $0.status = status.owned() }
    case .missed(let gap, let time):
      update(gap.source, at: time, &state) { source in
        source.gaps = source.gaps.saturatingSum(1)
        source.gapMilliseconds = source.gapMilliseconds.saturatingSum(gap.milliseconds)
        source.lastGap = MissedTime(
          source: source.name, from: gap.from, to: gap.to, reason: gap.reason.owned())
      }
    }
    return .none
  }

  private func update(
    _ name: Text, at time: Timestamp, _ state: inout State, _ change: (inout Source) -> Void
  ) {
    var sources = state.sources
    if let index = sources.firstIndex(where: { $0.name == name }) {
      change(&sources[index])
      sources[index].timestamp = max(sources[index].timestamp, time)
    } else {
      if sources.count >= Self.limit, let index = Self.leastNeeded(sources) {
        sources.remove(at: index)
      }
      var source = Source(name: name.owned(), at: time)
      change(&source)
      sources.append(source)
    }
    if sources != state.sources { state.sources = sources }
  }

  private static func leastNeeded(_ sources: [Source]) -> Int? {
    func isOver(_ source: Source) -> Bool { source.status?.state == .ended }
    return sources.indices.min {
      let (left, right) = (sources[$0], sources[$1])
      return isOver(left) == isOver(right) ? left.timestamp < right.timestamp : isOver(left)
    }
  }
}

extension SourcesFeature.State: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try check(sources, atMost: SourcesFeature.limit, "sources")
  }
}

extension SourcesFeature.Source: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try require(names: name, in: "name")
    try require(times: timestamp, in: "timestamp")
    try require(countable: gaps, gapMilliseconds, in: "gaps")
    try check(status, "status")
    try check(lastGap, "lastGap")
  }
}

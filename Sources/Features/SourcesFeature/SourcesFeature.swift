package import Composable
package import LiveEvents

/// How the sources of the room are doing, and what they could not see.
@Reducer
package struct SourcesFeature {
  /// How many sources are shown. Of more, those that have ended go first, then the one that was silent for longest.
  package static let limit = 32

  @ObservableState
  package struct State: Equatable, Sendable, Codable {
    /// In the order in which they came.
    package var sources: [Source] = []

    package init() {}
  }

  /// A source as it is shown. It owns its texts.
  package struct Source: Equatable, Sendable, Codable {
    /// What it said last; `nil` if that was only a gap.
    package var status: SourceHealth?
    package let name: Text
    /// When it said something last.
    package var timestamp: Timestamp
    /// How many gaps there were, and how long they were together, in milliseconds.
    package var gaps = 0
    package var gapMilliseconds = 0
    package var lastGap: MissedTime?

    init(name: Text, at timestamp: Timestamp) {
      self.name = name
      self.timestamp = timestamp
    }
  }

  package enum Action: Equatable, Sendable {
    /// A source is in this state, since this time of its own.
    case reported(SourceHealth, at: Timestamp)
    /// A source could not see what happened.
    case missed(MissedTime, at: Timestamp)
  }

  package init() {}

  package func reduce(into state: inout State, action: Action) -> Effect<Action> {
    switch action {
    case .reported(let status, let time):
      update(status.source, at: time, &state) { $0.status = status.owned() }
    case .missed(let gap, let time):
      update(gap.source, at: time, &state) { source in
        source.gaps = Self.sum(source.gaps, 1)
        source.gapMilliseconds = Self.sum(source.gapMilliseconds, gap.milliseconds)
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

  /// A saved state may hold anything.
  private static func sum(_ left: Int, _ right: Int) -> Int {
    let (sum, overflow) = left.addingReportingOverflow(right)
    return overflow ? .max : sum
  }
}

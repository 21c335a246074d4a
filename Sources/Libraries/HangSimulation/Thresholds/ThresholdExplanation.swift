import ViewGraph

extension ThresholdMetric {
  /// Returns lines that explain a metric's value in the run: turns, actions, fields, and views.
  func explanation(in run: RunReport, _ window: TurnWindow) -> [String] {
    switch self {
    case .hangs: run.turns(window) { run.hangClass(of: $0) == .hang }
    case .microhangs: run.turns(window) { run.hangClass(of: $0) == .microhang }
    case .over(let bound): run.turns(window) { $0 >= bound }
    case .longest, .hitch, .busy, .frozen, .frame, .latency: run.turns(window) { _ in true }
    case .growth: run.growth?.findings.map(\.line) ?? []
    case .view(_, .growth), .action(_, .growth):
      growthSubject.flatMap { run.growth?.findings(of: $0).map(\.line) } ?? []
    case .view(let name, _): run.views.first { $0.name == name }?.explanation ?? []
    case .effect(let name, _): run.effects.first { $0.name == name }?.explanation ?? []
    case .frames, .actions:
      run.views.max { $0.evaluations < $1.evaluations }?.explanation ?? []
    case .received, .applied, .coalesced, .rejected, .pending: run.explanationOfEvents
    }
  }
}

extension RunReport {
  private static let turnsShown = 2

  fileprivate func hangClass(of length: Int64) -> HangClass {
    HangClass(nanoseconds: UInt64(length), bounds: turnRecord?.bounds ?? .platform)
  }

  /// Returns the longest relevant turns in the window, each with its longest evaluation.
  fileprivate func turns(
    _ window: TurnWindow, _ isConcerned: (_ length: Int64) -> Bool
  ) -> [String] {
    func length(_ turn: TurnReport) -> Int64 {
      window.withoutAppearance ? max(0, turn.length - turn.appearanceCost) : turn.length
    }
    let found = longestTurns.filter { $0.start >= window.start && isConcerned(length($0)) }
      .sorted { length($0) > length($1) }
    if found.isEmpty {
      return ["not among the \(longestTurns.count) longest turns, for which details are kept"]
    }
    return found.prefix(Self.turnsShown).enumerated().flatMap { index, turn in
      [(index == 0 ? "longest turn: " : "next: ") + turn.line] + [turn.cause].compactMap(\.self)
    }
  }

  fileprivate var explanationOfEvents: [String] {
    [
      "\(events.received) events: \(events.applied) applied, \(events.coalesced) coalesced, "
        + "\(events.rejected) rejected, \(events.pending) pending"
    ]
  }
}

extension TurnReport {
  /// The cause of the longest evaluation; `nil` if no action caused it.
  fileprivate var cause: String? {
    guard let view, let viewTrigger else { return nil }
    return "  \(view) was evaluated because \(viewTrigger.action) changed \(viewTrigger.field)"
  }
}

private func time(_ nanoseconds: Int64) -> String {
  FixedPoint.milliseconds(nanoseconds, decimals: 1) + " ms"
}

extension ViewReport {
  private static let causesShown = 3

  fileprivate var explanation: [String] {
    [
      "\(name): \(evaluations) evaluations, \(avoidable) of them avoidable; mean \(time(mean)), "
        + "without children \(time(selfMean)), at most \(time(max))"
    ] + causes.prefix(Self.causesShown).map { "  \($0.line)" }
  }
}

extension EffectReport {
  fileprivate var explanation: [String] {
    [
      "\(name): \(started) started, \(failed) failed, \(abandoned) abandoned; answered after "
        + "\(time(answered.p50)) (95 %: \(time(answered.p95)), at most \(time(answered.max))), "
        + "with a wait of \(time(queued.p95)) for a core (95 %)"
    ]
  }
}

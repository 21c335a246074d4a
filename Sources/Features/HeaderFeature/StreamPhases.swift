package import LiveEvents

/// The phases of a room's sources. The room shows one phase: live if any source is live, or else
/// paused if any is paused, or else the phase that was reported last.
package struct StreamPhases: Equatable, Sendable {
  package struct Report: Equatable, Sendable {
    let origin: Origin
    var phase: StreamState?
    /// Whether the phase may be shown.
    var counts: Bool
  }

  /// One report per source, in the order in which the phases were reported.
  private var reports: [Report] = []

  package init() {}

  package init(of origin: Origin, _ phase: StreamState?) {
    reports = [Report(origin: origin, phase: phase, counts: true)]
  }

  init(_ reports: [Report]) { self.reports = reports }

  /// The phase to show, or `nil` if no source determines it.
  package var shown: StreamState? {
    let known = reports.filter { $0.counts && $0.phase != nil }
    for phase in [StreamState.live, .paused] where known.contains(where: { $0.phase == phase }) {
      return phase
    }
    return known.last?.phase
  }

  /// Records that a source sent an event other than a phase. Call this in the order of the events.
  package mutating func record(_ origin: Origin) {
    if reports.count == 1, reports[0].origin == origin { return }
    _ = position(of: origin)
  }

  /// Records the phase of a source.
  package mutating func record(_ phase: StreamState, from origin: Origin) {
    guard let index = position(of: origin) else { return }
    var report = reports.remove(at: index)
    report.phase = phase
    reports.append(report)
  }

  /// Returns the position of a source's report, and marks the report as one that counts. Adds a
  /// report for a new source. Returns `nil` if the source exceeds the limit.
  private mutating func position(of origin: Origin) -> Int? {
    if let index = reports.firstIndex(where: { $0.origin == origin }) {
      reports[index].counts = true
      return index
    }
    // The new source may have reported the phase before it named itself.
    if reports.count == 1, reports[0].origin == Origin.none { reports[0].counts = false }
    if reports.count >= SourceLimits.sources {
      guard let index = reports.firstIndex(where: { !$0.counts }) else { return nil }
      reports.remove(at: index)
    }
    reports.append(Report(origin: origin, phase: nil, counts: true))
    return reports.count - 1
  }
}

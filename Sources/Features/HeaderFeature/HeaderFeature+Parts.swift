package import LiveEvents

// The header of a room with several sources. The shown figures are derived from the parts:
//
// - viewers: the sum of the parts that are not gone;
// - title and category: those of the part that went live first and has them, or the newest if no
//   part is on the air;
// - phase: live if any part is live, or else paused if any is paused, or else the newest.
//
// A figure that no part reports keeps its shown value.

extension HeaderFeature.State {
  /// Returns whether all events so far, including the current event from `origin`, come from the
  /// same source. If not, splits the header into parts.
  ///
  /// - Complexity: O(1), without allocating while the room has a single source.
  mutating func isSole(_ origin: Origin) -> Bool {
    if case .some = parts { return false }
    if (sole ?? Origin.none) == origin { return true }
    guard hasReports else {
      sole = origin
      return true
    }
    split()
    return false
  }

  private var hasReports: Bool {
    sole != nil || phase != nil || category != nil || peakViewers > 0 || viewers > 0
      || !title.isEmpty
  }

  /// Creates the first part, which contains the shown figures and belongs to the source that
  /// reported them.
  private mutating func split() {
    let origin = sole ?? Origin.none
    var part = HeaderPart(origin: origin)
    part.viewers = viewers > 0 || peakViewers > 0 ? viewers : nil
    part.title = title.isEmpty ? nil : title
    part.category = category
    part.phase = phase
    var times = PartTimes()
    times.wentLive = isRunning ? 0 : nil
    if origin == Origin.none {
      part.standing = .unconfirmed
    } else if phase == .ended {
      part.standing = .stale
    }
    parts = [part]
    bookkeeping = HeaderBookkeeping(times: [times])
  }

  // MARK: Reports

  mutating func changeTitle(to title: String, from origin: Origin) {
    report(from: origin) { part, times, number in
      part.title = title
      times.title = number
    }
  }

  mutating func changeCategory(to category: String, from origin: Origin) {
    report(from: origin) { part, times, number in
      part.category = category
      times.category = number
    }
  }

  mutating func changeViewers(to count: Int, peak: Int, from origin: Origin) {
    guard let part = report(from: origin, { part, _, _ in part.viewers = count }) else { return }
    if part.standing == .gone, Self.isSumShared(by: parts ?? []) { return }
    // While this source was at its peak, the counts of the other sources were the same as now.
    peakViewers = max(peakViewers, viewers - count + peak)
  }

  /// Changes the phase of a part. Returns the phase to show, or `nil` if the source has no part.
  mutating func changePhase(to phase: StreamState, from origin: Origin) -> StreamState? {
    let part = report(from: origin) { part, times, number in
      let hasEnded = part.phase == .ended
      part.phase = phase
      times.phase = number
      switch phase {
      case .live: times.wentLive = times.wentLive ?? number
      case .paused: break
      case .waiting, .ended: times.wentLive = nil
      }
      if phase == .ended {
        if !hasEnded { part.standing = .stale }
      } else {
        (part.standing, times.staleness) = (.current, 0)
      }
    }
    return part.flatMap { _ in phases.shown }
  }

  /// Ends the streams of all parts.
  mutating func endParts() {
    guard var parts, var bookkeeping else { return }
    bookkeeping.number += 1
    for index in parts.indices where parts[index].phase != .ended {
      parts[index].phase = .ended
      bookkeeping.times[index].phase = bookkeeping.number
      bookkeeping.times[index].wentLive = nil
      if parts[index].standing == .current { parts[index].standing = .stale }
    }
    self.bookkeeping = bookkeeping
    show(parts)
  }

  /// Applies a report to the part of its source, and derives the figures to show. Returns the part,
  /// or `nil` if the source exceeds the limit, in which case the report is only counted.
  @discardableResult
  private mutating func report(
    from origin: Origin,
    _ change: (inout HeaderPart, inout PartTimes, _ number: Int) -> Void
  ) -> HeaderPart? {
    guard var parts, var bookkeeping else { return nil }
    guard let index = Self.index(of: origin, in: &parts, &bookkeeping) else {
      self.bookkeeping?.omitted = bookkeeping.omitted.saturatingSum(1)
      return nil
    }
    bookkeeping.number += 1
    (bookkeeping.times[index].silence, bookkeeping.times[index].hasLeft) = (0, false)
    // After the end of its stream, a source may continue to report viewers.
    if parts[index].standing == .unconfirmed || parts[index].phase != .ended {
      (parts[index].standing, bookkeeping.times[index].staleness) = (.current, 0)
    }
    change(&parts[index], &bookkeeping.times[index], bookkeeping.number)
    self.bookkeeping = bookkeeping
    show(parts)
    return parts[index]
  }

  /// Returns the position of a source's part. If the limit is reached, a new source replaces a part
  /// that is not shown; if there is none, returns `nil`.
  private static func index(
    of origin: Origin, in parts: inout [HeaderPart], _ bookkeeping: inout HeaderBookkeeping
  ) -> Int? {
    if let index = parts.firstIndex(where: { $0.origin == origin }) { return index }
    if parts.count >= SourceLimits.sources {
      guard let index = parts.firstIndex(where: { !$0.isShown }) else { return nil }
      parts.remove(at: index)
      bookkeeping.times.remove(at: index)
    }
    parts.append(HeaderPart(origin: origin))
    bookkeeping.times.append(PartTimes())
    return parts.count - 1
  }

  // MARK: Derived figures

  /// Replaces the parts, and derives viewers, title, and category.
  private mutating func show(_ parts: [HeaderPart]) {
    if self.parts != parts { self.parts = parts }
    let known = parts.filter(\.hasViewers)
    if !known.isEmpty {
      let isShared = Self.isSumShared(by: parts)
      viewers = known.reduce(0) { sum, part in
        isShared && part.standing == .gone ? sum : sum + (part.viewers ?? 0)
      }
      peakViewers = max(peakViewers, viewers)
    }
    if let title = derived(\.title, reportedAt: \.title) { self.title = title }
    if let category = derived(\.category, reportedAt: \.category) { self.category = category }
  }

  /// Returns whether several sources report viewers. The count of a sole reporting source remains
  /// shown after the source has ended, as in a room with one source.
  private static func isSumShared(by parts: [HeaderPart]) -> Bool {
    parts.count { $0.hasViewers } > 1
  }

  private func derived(
    _ text: KeyPath<HeaderPart, String?>, reportedAt number: KeyPath<PartTimes, Int>
  ) -> String? {
    let known = zip(parts ?? [], bookkeeping?.times ?? [])
      .filter { part, _ in part.isShown && part[keyPath: text] != nil }
    let first = known.filter { _, times in times.wentLive != nil }
      .min { $0.1.wentLive ?? 0 < $1.1.wentLive ?? 0 }
    let newest = known.max { $0.1[keyPath: number] < $1.1[keyPath: number] }
    return (first ?? newest)?.0[keyPath: text]
  }

  /// The phases of all sources. If there is only one source, it may not have reported a phase yet.
  package var phases: StreamPhases {
    guard let parts, let bookkeeping else {
      return hasReports ? StreamPhases(of: sole ?? Origin.none, phase) : StreamPhases()
    }
    let reports = zip(parts, bookkeeping.times).sorted { $0.1.phase < $1.1.phase }
    return StreamPhases(
      reports.map { part, times in
        StreamPhases.Report(
          origin: part.origin, phase: part.phase,
          counts: part.standing != .unconfirmed && !times.hasLeft)
      })
  }

  // MARK: Time

  /// Whether a part may become stale or gone with time alone.
  package var isAging: Bool {
    guard let parts, let bookkeeping else { return false }
    return zip(parts, bookkeeping.times).contains { part, times in
      part.isShown && (part.phase == .ended || !times.isConnected)
    }
  }

  /// Records the state of each part's source. `connection` returns the last reported state of the
  /// source with a name.
  package mutating func setConnections(_ connection: (Text) -> SourceHealth.Connection?) {
    guard let parts, var bookkeeping else { return }
    for (index, part) in parts.enumerated() {
      bookkeeping.times[index].connection = connection(part.origin.source)
    }
    self.bookkeeping = bookkeeping
  }

  /// Records that a source sent an event of another part of the screen.
  package mutating func recordActivity(from origin: Origin) {
    guard let index = parts?.firstIndex(where: { $0.origin == origin }) else { return }
    bookkeeping?.times[index].silence = 0
  }

  /// Advances the silence of each part. Returns the phase to show, if it has changed.
  mutating func ageParts(at time: Timestamp) -> StreamState? {
    guard var parts, var bookkeeping else { return nil }
    let elapsed = SourceLimits.elapsed(from: bookkeeping.newestTick, to: time)
    bookkeeping.newestTick = time
    for index in parts.indices where parts[index].standing != .unconfirmed {
      Self.age(&parts[index], &bookkeeping.times[index], by: elapsed)
    }
    self.bookkeeping = bookkeeping
    show(parts)
    let phase = phases.shown
    return phase == self.phase ? nil : phase
  }

  private static func age(_ part: inout HeaderPart, _ times: inout PartTimes, by elapsed: Int64) {
    let limit = SourceLimits.viewersSilence
    times.silence = times.isConnected ? 0 : min(times.silence + elapsed, limit)
    if part.phase != .ended, !times.isOver, times.silence < limit {
      (part.standing, times.staleness) = (.current, 0)
    } else if part.standing == .current {
      part.standing = .stale
    } else if part.standing == .stale {
      times.staleness += elapsed
      if times.staleness >= SourceLimits.staleness { part.standing = .gone }
    }
    // Silence alone never ends a stream, because sources report a phase only when it changes.
    times.hasLeft = part.standing == .gone && part.phase != .ended && times.isOver
  }
}

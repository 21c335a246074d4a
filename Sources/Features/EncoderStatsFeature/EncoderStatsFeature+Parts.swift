package import LiveEvents

// The statistics of a room with several encoders. Each source is judged by its own figures. The
// screen shows the worst quality and, for each measurement, the value of the first source that has
// it.

extension EncoderStatsFeature.State {
  /// Returns whether all statistics so far, including those from `origin`, come from the same
  /// source. Events without a name count as events of the first source with a name.
  mutating func isSole(_ origin: Origin) -> Bool {
    if case .some = parts { return false }
    if (sole ?? Origin.none) == origin { return true }
    if sole == nil {
      sole = origin
      return true
    }
    return false
  }

  /// Whether no source other than `origin` has sent statistics.
  package func hasOnly(_ origin: Origin) -> Bool {
    parts == nil && (sole ?? Origin.none) == origin
  }

  /// Judges a window of the only source.
  mutating func assess(_ window: StatisticsWindow) {
    figures.assess(window)
    if fault != levels.fault { fault = levels.fault }
    quality = levels.worst
  }

  /// The figures of the only source.
  var figures: EncoderFigures {
    get {
      EncoderFigures(levels: levels, bestFrameRate: bestFrameRate, droppedFrames: droppedFrames)
    }
    set {
      (levels, bestFrameRate) = (newValue.levels, newValue.bestFrameRate)
      droppedFrames = newValue.droppedFrames
    }
  }

  private var now: Timestamp { samplers?.now ?? 0 }

  /// Applies a window of one of several sources. Windows of sources that exceed the limit are only
  /// counted as samples.
  mutating func close(_ window: StatisticsWindow, from origin: Origin) {
    var parts =
      parts
      ?? [
        EncoderPart(
          origin: sole ?? Origin.none, window: self.window, figures: figures, heard: now)
      ]
    if !parts.contains(where: { $0.origin == origin }), parts.count < SourceLimits.sources {
      parts.append(EncoderPart(origin: origin, figures: EncoderFigures(), heard: now))
    }
    if let index = parts.firstIndex(where: { $0.origin == origin }) {
      parts[index].window = window
      parts[index].figures.assess(window)
      (parts[index].heard, parts[index].isStale) = (now, false)
    }
    show(parts, samples: window.samples)
  }

  /// Removes the figures of a source whose stream has ended.
  mutating func remove(_ origin: Origin) {
    guard var parts else { return }
    parts.removeAll { $0.origin == origin }
    show(parts, samples: window?.samples ?? 0)
  }

  /// Marks silent sources as stale, and removes sources that have been stale for too long.
  mutating func ageParts(from previous: Timestamp?, to time: Timestamp) {
    guard var parts else { return }
    // A tick adds only a limited time to a silence. The rest of a longer interval is a pause.
    let (passed, overflow) = time.subtractingReportingOverflow(previous ?? time)
    let pause = (overflow ? 0 : passed) - SourceLimits.elapsed(from: previous, to: time)
    for index in parts.indices {
      if pause != 0 { parts[index].heard = parts[index].heard.saturatingSum(pause) }
      if parts[index].silence(at: time) >= SourceLimits.statisticsSilence {
        parts[index].isStale = true
      }
    }
    let limit = SourceLimits.statisticsSilence + SourceLimits.staleness
    parts.removeAll { $0.silence(at: time) >= limit }
    if parts != self.parts { show(parts, samples: window?.samples ?? 0) }
  }

  /// Replaces the parts, and derives window and quality. If one part is left, its source becomes
  /// the only source, and ``parts`` becomes `nil`.
  private mutating func show(_ parts: [EncoderPart], samples: Int) {
    let fresh = parts.contains { !$0.isStale } ? parts.filter { !$0.isStale } : parts
    if !fresh.isEmpty {
      var merged = StatisticsWindow(samples: samples)
      for part in fresh { if let window = part.window { merged.fill(from: window) } }
      window = merged
    }
    let worst = fresh.max { $0.quality < $1.quality }
    quality = worst?.quality ?? quality
    let fault = worst?.figures.levels.fault
    if self.fault != fault { self.fault = fault }
    if parts.count > 1 {
      if self.parts != parts { self.parts = parts }
    } else {
      self.parts = nil
      if let part = parts.first {
        sole = part.origin
        figures = part.figures
      }
    }
  }
}

extension EncoderPart: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try require(times: heard, in: "heard")
    try check(window, "window")
    try require(figures.areWithinLimits, "figures")
  }
}

/// The times of a source's occasions: the times at which it may send.
package struct Arrivals: Sendable {
  package enum Pattern: Hashable, Sendable {
    /// Poisson arrivals: the intervals are independent and exponentially distributed.
    case poisson
    /// A constant interval. The first occasion is at the start of a stage.
    case even
  }

  package struct Stage: Hashable, Sendable {
    package var rate: Rate
    /// The duration of the stage; `nil` for a stage without end.
    package var length: VirtualTime?

    package init(rate: Rate, length: VirtualTime?) {
      self.rate = rate
      self.length = length
    }
  }

  /// The arrivals as defined by a scenario.
  package enum Plan: Hashable, Sendable {
    case staged(Pattern, from: VirtualTime, [Stage])
    /// Individual times in ascending order.
    case listed([VirtualTime])
  }

  /// The time of the next occasion; `nil` after the last one. Never decreases.
  package private(set) var nextTime: VirtualTime?

  private let pattern: Pattern
  private var stages: ArraySlice<Stage>
  private var stageStart: VirtualTime
  /// The mean interval between occasions of the current stage; `nil` without a current stage.
  private var interval: VirtualTime?
  /// The end of the current stage; `nil` for a stage without end.
  private var stageEnd: VirtualTime?
  private var listed: ArraySlice<VirtualTime>
  private var random: SeededGenerator

  /// - Parameter load: A factor for the rates, in millionths.
  package init(_ plan: Plan, load: Int64, random: SeededGenerator) {
    self.random = random
    switch plan {
    case .listed(let times):
      (pattern, stages, stageStart) = (.even, [], .zero)
      listed = times[...]
      nextTime = listed.popFirst()
    case .staged(let pattern, let start, let stages):
      self.pattern = pattern
      listed = []
      self.stages =
        stages.map { Stage(rate: $0.rate.times(millionths: load), length: $0.length) }[...]
      stageStart = start
      beginStage()
    }
  }

  /// Advances to the occasion after ``nextTime``.
  package mutating func advance() {
    guard let interval else {
      nextTime = listed.popFirst()
      return
    }
    guard let last = nextTime else { return }
    switch pattern {
    case .even: settle(last + interval)
    case .poisson: settle(last + random.interval(mean: interval))
    }
  }

  private mutating func beginStage() {
    while let stage = stages.first {
      if let interval = stage.rate.interval {
        self.interval = interval
        stageEnd = stage.length.map { stageStart + $0 }
        settle(pattern == .even ? stageStart : stageStart + random.interval(mean: interval))
        return
      }
      guard let length = stage.length else { break }
      stageStart += length
      stages.removeFirst()
    }
    nextTime = nil
    interval = nil
    stages = []
  }

  /// Accepts `time` if it is within the current stage; otherwise begins the next stage. Restarting
  /// the arrivals is valid, because a Poisson process has no memory.
  private mutating func settle(_ time: VirtualTime) {
    guard let stageEnd, !(time < stageEnd) else {
      nextTime = time
      return
    }
    stageStart = stageEnd
    stages.removeFirst()
    beginStage()
  }
}

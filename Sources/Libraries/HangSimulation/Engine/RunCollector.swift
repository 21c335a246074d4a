import RateLimiting
import ViewGraph
import Wording

struct RunCollector {
  /// The number of parts into which the run is divided. Charts show the longest turn of each part.
  private static let buckets = 240
  /// The number of longest turns that are kept with their causes.
  private static let maximumLongest = 10

  private let grid: FrameGrid
  private let duration: VirtualTime
  private let bucket: Int64

  /// The work done so far. One unit is roughly the work of receiving an event that a throttle
  /// holds.
  private(set) var work = 0
  /// The number of received events that no frame has shown yet.
  private(set) var waiting = 0
  private var turns = DurationHistogram()
  private var frames = DurationHistogram()
  private var frozen = 0
  private var microhangs = 0
  private var hangs = 0
  private var hitch: Int64 = 0
  private var busy: Int64 = 0
  private var timeline: [Int64]
  private var arrivals: [Int]
  private var longest: [TurnReport] = []
  /// The length of the last turn in ``longest``.
  private var shortestLongest: Int64 = 0
  private var digest = Digest()

  /// The events that no frame has shown yet, by throttle number. The throttle number 0 stands for
  /// events that never wait.
  private var unshown: [Unshown] = []
  private var latency = DurationHistogram()
  private var service = DurationHistogram()

  private var views: [(name: String, inclusive: DurationHistogram)]
  /// The costliest evaluation of the turn, excluding nested views.
  private var costliestView: (name: String, cost: Int64, trigger: EvaluationTrigger?)?
  private let bounds: HangBounds
  private var record: TurnRecord

  /// The unshown events of one throttle, oldest first.
  private struct Unshown {
    private var events: [(intended: Int64, received: Int64)] = []
    /// The number of removed events at the front.
    private var removedCount = 0

    var isEmpty: Bool { removedCount == events.count }

    mutating func append(_ event: (intended: Int64, received: Int64)) { events.append(event) }

    /// Removes and returns the oldest event if there are more than `pending`.
    mutating func removeOldest(leaving pending: Int) -> (intended: Int64, received: Int64)? {
      guard events.count - removedCount > pending else {
        if isEmpty {
          events.removeAll(keepingCapacity: true)
          removedCount = 0
        } else if removedCount > 1_000, removedCount > events.count / 2 {
          events.removeFirst(removedCount)
          removedCount = 0
        }
        return nil
      }
      removedCount += 1
      return events[removedCount - 1]
    }
  }

  /// - Parameter views: The names that come first in reports.
  init(duration: VirtualTime, framesPerSecond: Int, bounds: HangBounds, views: [String]) {
    self.duration = duration
    self.bounds = bounds
    record = TurnRecord(bounds: bounds)
    self.views = views.map { ($0, DurationHistogram()) }
    grid = FrameGrid(framesPerSecond: Int64(framesPerSecond))
    // Whole milliseconds, so that the axis labels of charts are round numbers.
    let milliseconds = max(
      1, (duration.milliseconds + Int64(Self.buckets) - 1) / Int64(Self.buckets))
    bucket = milliseconds * 1_000_000
    timeline = Array(repeating: 0, count: Int(duration.nanoseconds / bucket) + 1)
    arrivals = Array(repeating: 0, count: timeline.count)
  }

  var recordedTurns: Int { record.count }

  mutating func recordReceipt(_ throttle: Int, intended: VirtualTime, at time: Int64) {
    work += 1
    waiting += 1
    let index = Int(time / bucket)
    if index < arrivals.count { arrivals[index] += 1 }
    while unshown.count <= throttle { unshown.append(Unshown()) }
    unshown[throttle].append((intended.nanoseconds, time))
  }

  /// Records that a frame shows all events except those that are still pending in a throttle, which
  /// are its newest events. A superseded event counts as shown, because nothing remains to be
  /// drawn.
  mutating func recordShown(by screen: any RunningScreen, at time: Int64) {
    for index in unshown.indices where !unshown[index].isEmpty {
      let pending = index == 0 ? 0 : screen.pending(index)
      while let event = unshown[index].removeOldest(leaving: pending) {
        waiting -= 1
        latency.add(time - event.intended)
        service.add(time - event.received)
      }
    }
  }

  /// Marks a slice as used up, so that it does no further work.
  mutating func endSlice(at work: Int) { self.work = max(self.work, work) }

  /// Counts steps of an effect, or other steps that are about as much work as an event that a
  /// throttle holds.
  mutating func countStep(_ count: Int = 1) { work += count }

  mutating func recordEvaluation(_ record: EvaluationRecord) {
    work += 10
    let exclusive = Int64(record.exclusive)
    if exclusive > costliestView?.cost ?? -1 {
      costliestView = (record.name, exclusive, record.triggers.first)
    }
    let index: Int
    if let known = views.firstIndex(where: { $0.name == record.name }) {
      index = known
    } else {
      index = views.count
      views.append((record.name, DurationHistogram()))
    }
    views[index].inclusive.add(Int64(record.inclusive))
    digest.add(UInt64(index))
    digest.add(record.inclusive)
  }

  mutating func endTurn(
    from start: Int64, to end: Int64, costliest: (name: String, cost: Int64)?,
    appearance: Int64, isFrame: Bool = false
  ) {
    work += 1
    let length = end - start
    turns.add(length)
    if isFrame { recordFrame(length) }
    // In a flood, most turns only receive an event that a throttle holds, which costs nothing.
    if length > 0 { recordLength(length, from: start, appearance) }
    if longest.count < Self.maximumLongest || length > shortestLongest {
      insertLongest(length, from: start, costliest, appearance)
    }
    digest.add(UInt64(start))
    digest.add(UInt64(length))
    if costliestView != nil { costliestView = nil }
  }

  private mutating func recordFrame(_ length: Int64) {
    frames.add(length)
    if length >= RunReport.frozenFrame { frozen += 1 }
  }

  private mutating func recordLength(_ length: Int64, from start: Int64, _ appearance: Int64) {
    switch HangClass(nanoseconds: UInt64(length), bounds: bounds) {
    case .instant, .late: break
    case .microhang: microhangs += 1
    case .hang: hangs += 1
    }
    record.add(start: start, length: length, appearance: appearance)
    busy += length
    // The hitch is the part of the turn after the first refresh that follows the turn's start.
    hitch += max(
      0, start + length - grid.frame(after: Instant(nanoseconds: start)).nanoseconds)
    let index = Int(start / bucket)
    if index < timeline.count { timeline[index] = max(timeline[index], length) }
  }

  private mutating func insertLongest(
    _ length: Int64, from start: Int64, _ action: (name: String, cost: Int64)?,
    _ appearance: Int64
  ) {
    if longest.count == Self.maximumLongest { longest.removeLast() }
    let hangClass = HangClass(nanoseconds: UInt64(length), bounds: bounds)
    let report = TurnReport(
      start: start, length: length, hangClass: hangClass.rawValue, action: action?.name,
      actionCost: action?.cost ?? 0, view: costliestView?.name, viewCost: costliestView?.cost ?? 0,
      viewTrigger: costliestView?.trigger, appearanceCost: appearance)
    let index = longest.firstIndex { $0.length < length } ?? longest.count
    longest.insert(report, at: index)
    shortestLongest = longest[longest.count - 1].length
  }

  // MARK: Result

  func report(
    device: Device, variant: String, events: EventTotals, actions: Int, frames: Int,
    statistics: [String: ViewStatistics], faults: FaultCounts, windows: [Fault],
    effects: [EffectReport], constants: [String]
  ) -> RunReport {
    let measured = constants.count { device.profile.costs.measured.contains($0) }
    var (digest, record) = (digest, record)
    record.recordLengths(turns)
    for number in [
      events.received, events.applied, events.coalesced, events.rejected, events.pending, actions,
      frames,
    ] { digest.add(UInt64(number)) }
    return RunReport(
      device: device.name, variant: variant, slowdown: device.slowdown,
      refreshRate: Int(1_000_000_000 / grid.interval),
      events: events, faults: faults, effects: effects, actions: actions, frames: frames,
      turns: turns.count,
      microhangs: microhangs, hangs: hangs, longest: turns.maximum,
      hitchPerSecond: Int64(Int128(hitch) * 1_000_000_000 / Int128(duration.nanoseconds)),
      busyShare: Int(min(1_000, Int128(busy) * 1_000 / Int128(duration.nanoseconds))),
      latency: Percentiles(latency), service: Percentiles(service),
      frame: Percentiles(self.frames), frozenFrames: frozen,
      views: views.compactMap { view in
        statistics[view.name].map { ViewReport(view.name, $0, view.inclusive) }
      },
      longestTurns: longest, bucket: bucket, timeline: timeline, arrivals: arrivals,
      faultWindows: windows.map(FaultWindow.init), digest: digest.value,
      measuredCosts: measured, assumedCosts: constants.count - measured,
      turnRecord: record)
  }
}

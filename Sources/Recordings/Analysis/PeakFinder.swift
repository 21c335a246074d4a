/// A time in which a chat was busier than before.
struct Peak: Equatable, Sendable {
  /// The first and the last second, since 1970.
  let first: Int64
  var last: Int64
  /// The number of messages in the busiest ten seconds, and the mean number in ten seconds over the
  /// five minutes before.
  var busiest: Int
  let usual: Double
  var messages: Int
}

/// Counts the messages of each second, and finds peaks.
///
/// Every window of ten seconds is compared with the mean and the deviation of all such windows in
/// the five minutes before it. Messages may arrive up to ``lateness`` seconds late. The last
/// seconds are therefore provisional, and are searched again with each second.
struct PeakFinder: Sendable {
  private static let window: Int64 = 10
  private static let baseline: Int64 = 300
  static let lateness: Int64 = 10
  /// The number of consecutive messages with outdated times after which the clock is assumed to
  /// have been set back.
  private static let patience = 100
  /// The smallest ratio between the rates of a peak and of the baseline. A smaller increase is not
  /// a peak, however steady the chat was.
  private static let factor = 1.5
  /// The smallest number of standard deviations between a peak and the baseline. A smaller distance
  /// can be caused by chance or by the usual fluctuations of a chat.
  private static let deviations = 4.0
  /// The number of seconds that are kept, a power of two. It covers the baseline of the oldest
  /// provisional second.
  private static let kept = 512
  /// The memory of a finder, in bytes.
  static let memory = kept * MemoryLayout<Int32>.stride

  /// The number of messages, by second modulo ``kept``.
  private var counts = [Int32](repeating: 0, count: kept)
  private var newest: Int64?
  private var outdated = 0
  /// The search through all seconds to which messages can no longer be added.
  private var settled = Search(from: 0)

  /// The newest peak outside of the provisional seconds.
  var settledPeak: Peak? { settled.peak }

  /// Counts a message. Returns whether the message begins a new second.
  mutating func add(_ second: Int64) -> Bool {
    guard let newest else {
      begin(at: second)
      return false
    }
    if second > newest {
      advance(to: second)
    } else if second <= settled.second {
      outdated += 1
      if outdated >= Self.patience { begin(at: second) }
      return false
    }
    outdated = 0
    counts[Self.slot(second)] += 1
    return second > newest
  }

  private mutating func begin(at second: Int64) {
    counts = [Int32](repeating: 0, count: Self.kept)
    counts[Self.slot(second)] = 1
    newest = second
    outdated = 0
    settled = Search(from: second)
  }

  private mutating func advance(to second: Int64) {
    while let newest, newest < second {
      // After a longer silence, further silent seconds change nothing.
      if second - newest > 2 * Int64(Self.kept) {
        let silent = settled.second == newest - Self.lateness && counts.allSatisfy { $0 == 0 }
        if silent {
          self.newest = second - Int64(Self.kept)
          settled.second = second - Int64(Self.kept) - Self.lateness
          continue
        }
      }
      counts[Self.slot(newest + 1)] = 0
      self.newest = newest + 1
      while settled.second < newest + 1 - Self.lateness { settled.advance(self) }
    }
  }

  /// Returns the newest peak before the newest second, and the time that comes closest to a peak.
  ///
  /// - Parameter atEnd: whether the chat has ended, so that the newest second is complete.
  func newestPeak(atEnd: Bool = false) -> (peak: Peak?, busiest: Peak?) {
    var search = settled
    guard let newest else { return (nil, nil) }
    while search.second < (atEnd ? newest : newest - 1) { search.advance(self) }
    return (search.peak, search.busiest?.peak)
  }

  private static func slot(_ second: Int64) -> Int { Int(truncatingIfNeeded: second) & (kept - 1) }

  private func count(at second: Int64) -> Int { Int(counts[Self.slot(second)]) }

  /// A search through the seconds, one at a time.
  private struct Search {
    private let start: Int64
    /// The last second that was searched.
    var second: Int64
    private var inWindow = 0
    private var before = WindowSums()
    private(set) var peak: Peak?
    private(set) var busiest: (peak: Peak, score: Double)?

    init(from second: Int64) { (start, self.second) = (second, second - 1) }

    mutating func advance(_ history: PeakFinder) {
      second += 1
      inWindow += history.count(at: second) - history.count(at: second - PeakFinder.window)
      before.add(newest: second - PeakFinder.window, from: start, history)
      guard before.count >= 30, inWindow >= 10 else { return }
      let score = before.deviations(of: inWindow)
      let found = Peak(
        first: second - PeakFinder.window + 1, last: second, busiest: inWindow, usual: before.mean,
        messages: inWindow)
      if Double(inWindow) >= before.mean * PeakFinder.factor, score >= PeakFinder.deviations {
        extend(with: found, history)
      }
      if busiest.map({ score > $0.score }) ?? true { busiest = (found, score) }
    }

    private mutating func extend(with found: Peak, _ history: PeakFinder) {
      guard var last = peak, found.first <= last.last + 1 else {
        peak = found
        return
      }
      for second in last.last + 1...found.last { last.messages += history.count(at: second) }
      last.last = found.last
      // The baseline stays the one from before the beginning of the peak.
      last.busiest = max(last.busiest, found.busiest)
      peak = last
    }
  }

  /// Sums over the windows of ten seconds in the five minutes before another window.
  private struct WindowSums {
    private(set) var count = 0
    private var sum = 0
    private var squares = 0
    /// The numbers of messages in the newest and in the oldest window.
    private var newest = 0
    private var oldest = 0

    /// Advances by a second, to windows that end at `second` at the latest.
    ///
    /// - Parameter begin: the second of the first message. The time before it does not count as
    ///   silence.
    mutating func add(newest second: Int64, from begin: Int64, _ history: PeakFinder) {
      guard second >= begin else { return }
      newest += history.count(at: second) - history.count(at: second - PeakFinder.window)
      guard second >= begin + PeakFinder.window - 1 else { return }
      add(newest, 1)
      let last = second - PeakFinder.baseline
      guard last >= begin else { return }
      oldest += history.count(at: last) - history.count(at: last - PeakFinder.window)
      guard last >= begin + PeakFinder.window - 1 else { return }
      add(oldest, -1)
    }

    private mutating func add(_ messages: Int, _ sign: Int) {
      count += sign
      sum += sign * messages
      squares += sign * messages * messages
    }

    var mean: Double { Double(sum) / Double(count) }

    /// Returns the number of standard deviations of a window above the mean.
    ///
    /// It is computed on square roots (Anscombe's transform). For random arrivals, these have a
    /// symmetric distribution, whose standard deviation is one half for any mean. If a chat varies
    /// more, its own deviation is used. A smaller deviation is not used, because a few windows may
    /// be equal by accident.
    func deviations(of messages: Int) -> Double {
      let excess = (Double(messages) + 0.375).squareRoot() - (mean + 0.375).squareRoot()
      let variance = Double(squares) / Double(count) - mean * mean
      let beyondChance = mean > 0 ? max(1, variance / mean) : 1
      return 2 * excess / beyondChance.squareRoot()
    }
  }
}

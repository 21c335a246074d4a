/// A stretch of time in which a chat was busier than before.
struct Peak: Equatable, Sendable {
  /// Its first and last second, since 1970.
  let first: Int64
  var last: Int64
  /// The number of messages in its busiest ten seconds, and the mean of that in the five minutes
  /// before it.
  var busiest: Int
  let usual: Double
  var messages: Int
}

/// Counts the messages of each second, and finds the peaks while it does.
///
/// Every window of ten seconds is compared with the mean and the deviation of all windows of ten
/// seconds in the five minutes before it. Messages may come up to ``lateness`` seconds late: what
/// is found in these seconds is provisional, and found anew with each second.
struct PeakFinder: Sendable {
  private static let window: Int64 = 10
  private static let baseline: Int64 = 300
  static let lateness: Int64 = 10
  /// How many messages in a row that are older still mean that the clock was set back.
  private static let patience = 100
  /// A peak has at least this many times the rate of the baseline: less is not an event, however
  /// steady the chat was.
  private static let factor = 1.5
  /// A peak is also at least this many standard deviations above the baseline: neither chance nor
  /// the usual ups and downs of a chat that comes in waves are events.
  private static let deviations = 4.0
  /// How many seconds are kept: those compared with the oldest one that is provisional, and a power
  /// of two.
  private static let kept = 512
  /// In bytes.
  static let memory = kept * MemoryLayout<Int32>.stride

  /// By second, modulo ``kept``.
  private var counts = [Int32](repeating: 0, count: kept)
  private var newest: Int64?
  private var outdated = 0
  /// The search through all seconds that nothing is added to any more.
  private var settled = Search(from: 0)

  /// The newest peak, apart from those in seconds that are provisional.
  var settledPeak: Peak? { settled.peak }

  /// Counts a message. Returns whether it is the first of its second and of those behind it.
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
      // After so many seconds without a message, others change nothing.
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

  /// The newest peak, in the seconds before the newest one or, at the end of a chat, in that one as
  /// well; and what comes closest to a peak.
  func newestPeak(atEnd: Bool = false) -> (peak: Peak?, busiest: Peak?) {
    var search = settled
    guard let newest else { return (nil, nil) }
    while search.second < (atEnd ? newest : newest - 1) { search.advance(self) }
    return (search.peak, search.busiest?.peak)
  }

  private static func slot(_ second: Int64) -> Int { Int(truncatingIfNeeded: second) & (kept - 1) }

  private func count(at second: Int64) -> Int { Int(counts[Self.slot(second)]) }

  /// Goes through the seconds one by one.
  private struct Search {
    private let start: Int64
    /// The last second that was looked at.
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
        note(found, history)
      }
      if busiest.map({ score > $0.score }) ?? true { busiest = (found, score) }
    }

    private mutating func note(_ found: Peak, _ history: PeakFinder) {
      guard var last = peak, found.first <= last.last + 1 else {
        peak = found
        return
      }
      for second in last.last + 1...found.last { last.messages += history.count(at: second) }
      last.last = found.last
      // Compared with the time before it began.
      last.busiest = max(last.busiest, found.busiest)
      peak = last
    }
  }

  /// Sums over the windows of ten seconds that end within the five minutes before another window.
  private struct WindowSums {
    private(set) var count = 0
    private var sum = 0
    private var squares = 0
    /// The number of messages in the newest window and in the oldest one.
    private var newest = 0
    private var oldest = 0

    /// Advances by a second, to windows that end at `second`.
    ///
    /// - Parameter begin: the second of the first message. The time before it does not count as
    ///   time without messages.
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

    /// How many standard deviations a window with this many messages is above the mean.
    ///
    /// Computed on square roots (Anscombe's transform), whose standard deviation under pure chance
    /// is one half whatever the mean, evenly to both sides. A chat that varies by more than chance
    /// is measured with its larger deviation; one that varies by less is not measured with a
    /// smaller one, because a few windows may be alike by accident.
    func deviations(of messages: Int) -> Double {
      let excess = (Double(messages) + 0.375).squareRoot() - (mean + 0.375).squareRoot()
      let variance = Double(squares) / Double(count) - mean * mean
      let beyondChance = mean > 0 ? max(1, variance / mean) : 1
      return 2 * excess / beyondChance.squareRoot()
    }
  }
}

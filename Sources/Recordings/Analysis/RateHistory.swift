import LiveEvents

/// A stretch of time in which a chat was busier than before.
struct Peak: Equatable {
  /// Its first and last second, counted from the origin.
  var first: Int
  var last: Int
  /// Messages per second in its busiest ten seconds, and in the five minutes before it.
  var rate: Double
  var baseline: Double
  var messages: Int
}

/// Counts the messages of each second.
struct RateHistory {
  /// Messages may be this many seconds older than the first one; older ones are left out of the
  /// peaks.
  static let slack: Int64 = 600
  /// The longest time that is examined, in seconds: 40 days.
  private static let longest = 40 * 86_400
  static let window = 10
  static let baseline = 300
  /// A peak has at least this many times the rate of the baseline: less is not an event, however
  /// steady the chat was.
  private static let factor = 1.5
  /// A peak is also at least this many standard deviations above the baseline: neither chance nor
  /// the usual ups and downs of a chat that comes in waves are events.
  private static let deviations = 4.0

  /// The second at which counting begins, since 1970.
  private(set) var origin: Int64?
  private(set) var messages = 0
  private var seconds = ChunkedArray<Int32>()

  mutating func add(_ message: WrittenMessage) {
    messages += 1
    let second = message.timestamp / 1_000
    let first = origin ?? second - Self.slack
    origin = first
    guard second >= first, second - first < Int64(Self.longest) else { return }
    let index = Int(second - first)
    // A gap costs one count per second, about 3 ms for the longest possible.
    while seconds.count <= index { seconds.append(0) }
    seconds[index] += 1
  }

  /// The peaks in order, and the busiest stretch, which is what comes closest to a peak if there is
  /// none.
  ///
  /// Every window of ten seconds is compared with the mean and the deviation of all windows of ten
  /// seconds in the five minutes before it.
  func peaks(_ slice: inout TimeSlice) async throws -> (peaks: [Peak], busiest: Peak?) {
    var peaks: [Peak] = []
    var busiest: (peak: Peak, score: Double)?
    var inWindow = 0
    var before = WindowSums()
    for second in 0..<seconds.count {
      if second % 256 == 0 { try await slice.yieldIfDue() }
      inWindow += count(at: second) - count(at: second - Self.window)
      before.add(newest: second - Self.window, self)
      guard before.count >= 30 else { continue }
      guard inWindow >= 10 else { continue }
      let mean = before.mean
      let score = before.deviations(of: inWindow)
      let peak = Peak(
        first: second - Self.window + 1, last: second, rate: Double(inWindow) / Double(Self.window),
        baseline: mean / Double(Self.window), messages: inWindow)
      if Double(inWindow) >= mean * Self.factor, score >= Self.deviations {
        note(peak, in: &peaks)
      }
      if busiest.map({ score > $0.score }) ?? true { busiest = (peak, score) }
    }
    for index in peaks.indices {
      peaks[index].messages = (peaks[index].first...peaks[index].last).reduce(0) {
        $0 + Int(seconds[$1])
      }
      try await slice.yieldIfDue()
    }
    return (peaks, busiest?.peak)
  }

  private func count(at second: Int) -> Int { second >= 0 ? Int(seconds[second]) : 0 }

  /// Sums over the windows of ten seconds that end within the five minutes before another window.
  private struct WindowSums {
    private(set) var count = 0
    private var sum = 0
    private var squares = 0
    /// The number of messages in the newest window and in the oldest one.
    private var newest = 0
    private var oldest = 0

    /// Advances by a second, to windows that end at `second`.
    mutating func add(newest second: Int, _ history: RateHistory) {
      // The time before the first message does not count as time without messages.
      let begin = Int(RateHistory.slack)
      guard second >= begin else { return }
      newest += history.count(at: second) - history.count(at: second - RateHistory.window)
      guard second >= begin + RateHistory.window - 1 else { return }
      add(newest, 1)
      let last = second - RateHistory.baseline
      guard last >= begin else { return }
      oldest += history.count(at: last) - history.count(at: last - RateHistory.window)
      guard last >= begin + RateHistory.window - 1 else { return }
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

  private func note(_ peak: Peak, in peaks: inout [Peak]) {
    guard let last = peaks.last, peak.first <= last.last + 1 else {
      peaks.append(peak)
      return
    }
    peaks[peaks.count - 1].last = peak.last
    // Compared with the time before it began.
    peaks[peaks.count - 1].rate = max(last.rate, peak.rate)
  }
}

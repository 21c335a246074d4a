import LiveEvents

/// A time in which a chat was busier than before.
struct Peak: Equatable {
  /// Seconds from the origin, the last one included.
  var first: Int
  var last: Int
  /// Messages per second in its busiest ten seconds, and in the five minutes before it.
  var rate: Double
  var baseline: Double
  var messages: Int
}

/// How many messages each second had.
struct RateHistory {
  /// Messages may be this much older than the first one; others are left out of the peaks.
  static let slack: Int64 = 600
  /// The longest time that is looked at, in seconds: 40 days.
  private static let longest = 40 * 86_400
  static let window = 10
  static let baseline = 300
  /// A peak has so many times the rate of the baseline: less is no event, however even the chat was.
  private static let factor = 1.5
  /// And it is so many standard deviations above: what is usual in a chat that comes in waves is no
  /// event either, nor what happens by chance.
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
    let place = Int(second - first)
    // A gap costs a count per second, some 3 ms for the longest; it is told apart from a stall by that.
    while seconds.count <= place { seconds.append(0) }
    seconds[place] += 1
  }

  /// The peaks, in their order, and what comes nearest to one.
  ///
  /// The messages of each ten seconds are held against those of all ten seconds that lie within the
  /// five minutes before: their mean and their deviation.
  func peaks(_ slice: inout Slice) async throws -> (peaks: [Peak], busiest: Peak?) {
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

  /// Sums over the windows of ten seconds that end within the five minutes before another one.
  private struct WindowSums {
    private(set) var count = 0
    private var sum = 0
    private var squares = 0
    /// Messages of the newest window and of the oldest one.
    private var newest = 0
    private var oldest = 0

    /// Goes on by a second, to windows that end at `second`.
    mutating func add(newest second: Int, _ history: RateHistory) {
      // What lies before the first message is not a time without messages.
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

    /// How many standard deviations a window with so many messages is above the mean.
    ///
    /// Counted in square roots (Anscombe): by chance alone these deviate by one half, whatever the mean
    /// is, and evenly to both sides. A chat that varies by more than chance has a wider measure; one that
    /// varies by less has not, since few windows may be alike by accident.
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
    // Held against the time before it began.
    peaks[peaks.count - 1].rate = max(last.rate, peak.rate)
  }
}

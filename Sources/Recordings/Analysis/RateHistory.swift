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
  /// A peak has so many times the rate of the baseline.
  private static let factor = 2.5

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

  /// The peaks, in their order. A moving baseline of five minutes is what the rate of ten seconds is
  /// held against.
  func peaks(_ slice: inout Slice) async throws -> [Peak] {
    var peaks: [Peak] = []
    var inWindow = 0
    var inBaseline = 0
    let begin = Int(Self.slack)
    for second in 0..<seconds.count {
      if second % 256 == 0 { try await slice.yieldIfDue() }
      inWindow += Int(seconds[second])
      let left = second - Self.window
      if left >= 0 {
        inWindow -= Int(seconds[left])
        inBaseline += Int(seconds[left])
      }
      if left - Self.baseline >= 0 { inBaseline -= Int(seconds[left - Self.baseline]) }
      // What lies before the first message is not a time without messages.
      let length = min(Self.baseline, max(0, left - begin + 1))
      guard length >= 30 else { continue }
      let rate = Double(inWindow) / Double(Self.window)
      let usual = Double(inBaseline) / Double(length)
      guard inWindow >= 10, rate >= usual * Self.factor else { continue }
      note(
        Peak(first: left + 1, last: second, rate: rate, baseline: usual, messages: 0), in: &peaks)
    }
    for index in peaks.indices {
      peaks[index].messages = (peaks[index].first...peaks[index].last).reduce(0) {
        $0 + Int(seconds[$1])
      }
      try await slice.yieldIfDue()
    }
    return peaks
  }

  private func note(_ peak: Peak, in peaks: inout [Peak]) {
    guard let last = peaks.last, peak.first <= last.last + 1 else {
      peaks.append(peak)
      return
    }
    peaks[peaks.count - 1].last = peak.last
    // Measured against the time before it began.
    peaks[peaks.count - 1].rate = max(last.rate, peak.rate)
  }
}

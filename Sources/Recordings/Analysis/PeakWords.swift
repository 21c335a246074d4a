import LiveEvents
import Varlink

/// The words that mark the peaks of a chat: more frequent there than elsewhere.
struct PeakWords {
  /// How many peaks are told, and how many words of each.
  private static let peakLimit = 20
  private static let wordLimit = 5

  private struct Word {
    let text: String
    var count: Int
  }

  private let peaks: [Peak]
  /// What is told where there are none.
  private let busiest: Peak?
  private let origin: Int64
  /// Words of all messages.
  private var everywhere = ShardedTable<Int>()
  private var total = 0
  /// Words of each peak, and their number.
  private var words: [[UInt64: Word]]
  private var totals: [Int]

  /// - Parameter origin: the second, since 1970, from which peaks count.
  init(peaks: [Peak], busiest: Peak?, origin: Int64) {
    self.busiest = busiest
    var best = Best<Peak>(Self.peakLimit) { left, right in
      (right.rate - right.baseline, left.first) < (left.rate - left.baseline, right.first)
    }
    for peak in peaks { best.offer(peak) }
    self.peaks = best.elements.sorted { $0.first < $1.first }
    self.origin = origin
    words = Array(repeating: [:], count: self.peaks.count)
    totals = Array(repeating: 0, count: self.peaks.count)
  }

  mutating func add(_ message: WrittenMessage) {
    let second = Int(message.timestamp / 1_000 - origin)
    let peak = peaks.firstIndex { $0.first <= second && second <= $0.last }
    message.message.text.withUTF8 { text in
      for word in text.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: true)
      where word.count > 1 && word.count <= 32 {
        let hash = TextHash.of(word.lazy.map(lowercased))
        everywhere.update(hash, from: 0) { $0 += 1 }
        total += 1
        guard let peak else { continue }
        totals[peak] += 1
        words[peak][hash, default: Word(text: String(decoding: word, as: UTF8.self), count: 0)]
          .count += 1
      }
    }
  }

  func result(messages: Int) -> AnalysisResult {
    var lines = ["\(messages) messages, \(peaks.count) highlights"]
    if peaks.isEmpty, let busiest {
      lines.append(
        "\(time((origin + Int64(busiest.first)) * 1_000))  busiest: \(tenths(busiest.rate))/s after "
          + "\(tenths(busiest.baseline))/s, which is within what is usual here")
    }
    var values: [JSONValue] = []
    for (index, peak) in peaks.enumerated() {
      let marks = marks(of: index)
      let start = (origin + Int64(peak.first)) * 1_000
      values.append([
        "startedAt": .integer(start),
        "durationMs": .integer(Int64(peak.last - peak.first + 1) * 1_000),
        "messages": .integer(Int64(peak.messages)), "rate": .number(peak.rate),
        "baseline": .number(tenths(peak.baseline)), "words": .array(marks.map(JSONValue.string)),
      ])
      lines.append(
        "\(time(start))  \(peak.messages) messages, \(tenths(peak.rate))/s after "
          + "\(tenths(peak.baseline))/s: \(marks.joined(separator: " "))")
    }
    return AnalysisResult(
      json: [
        "messages": .integer(Int64(messages)), "highlights": .array(values),
        "busiest": busiest.map(busiestValue) ?? .null,
      ],
      lines: lines)
  }

  private func busiestValue(_ peak: Peak) -> JSONValue {
    [
      "startedAt": .integer((origin + Int64(peak.first)) * 1_000), "rate": .number(peak.rate),
      "baseline": .number(tenths(peak.baseline)),
    ]
  }

  /// How much more frequent a word is in the peak than everywhere, weighed by how often it is there.
  private func marks(of peak: Int) -> [String] {
    var best = Best<(text: String, score: Double)>(Self.wordLimit) { left, right in
      left.score != right.score ? left.score > right.score : left.text < right.text
    }
    for (hash, word) in words[peak] where word.count >= 3 {
      let here = Double(word.count) / Double(max(1, totals[peak]))
      let usual = Double(everywhere[hash] ?? word.count) / Double(max(1, total))
      best.offer((word.text, Double(word.count) * min(here / usual, 50)))
    }
    return best.elements.map(\.text)
  }
}

/// ASCII only: enough to join what chats write in capitals.
func lowercased(_ byte: UInt8) -> UInt8 {
  byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
}

func tenths(_ number: Double) -> Double { (number * 10).rounded() / 10 }

/// UTC, as in `13:17:57`.
func time(_ milliseconds: Int64) -> String {
  let seconds = Int(milliseconds / 1_000)
  return [seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60]
    .map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
}

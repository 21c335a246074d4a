import JSON
import LiveEvents
import Wording

/// The words that mark the peaks of a chat: those more frequent there than elsewhere.
struct PeakWords: Releasable {
  /// How many peaks are reported, and how many words of each.
  private static let peakLimit = 20
  private static let wordLimit = 5

  private struct Word {
    let text: String
    var count: Int
  }

  private let peaks: [Peak]
  /// What is reported if there are no peaks.
  private let busiest: Peak?
  private let origin: Int64
  /// How often each word occurs in all messages.
  private var everywhere = ShardedTable<Int>()
  private var total = 0
  /// The words of each peak, and how many there are.
  private var words: [ShardedTable<Word>]
  private var totals: [Int]

  /// - Parameter origin: the second since 1970 that is second 0 of the peaks.
  init(peaks: [Peak], busiest: Peak?, origin: Int64) {
    self.busiest = busiest
    var best = Best<Peak>(Self.peakLimit) { left, right in
      (right.rate - right.baseline, left.first) < (left.rate - left.baseline, right.first)
    }
    for peak in peaks { best.offer(peak) }
    self.peaks = best.elements.sorted { $0.first < $1.first }
    self.origin = origin
    words = Array(repeating: ShardedTable(shardCount: 256), count: self.peaks.count)
    totals = Array(repeating: 0, count: self.peaks.count)
  }

  mutating func add(_ message: WrittenMessage) {
    let second = Int(message.timestamp / 1_000 - origin)
    let peak = peaks.firstIndex { $0.first <= second && second <= $0.last }
    message.message.text.withUTF8 { text in
      for word in text.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: true)
      where word.count > 1 && word.count <= 32 {
        let hash = TextHash.of(word.lazy.map(\.asciiLowercased))
        everywhere.update(hash, from: 0) { $0 += 1 }
        total += 1
        guard let peak else { continue }
        totals[peak] += 1
        words[peak].update(hash, from: Word(text: String(decoding: word, as: UTF8.self), count: 0))
        {
          $0.count += 1
        }
      }
    }
  }

  mutating func release(_ slice: inout TimeSlice) async {
    await everywhere.release(&slice)
    while var last = words.popLast() { await last.release(&slice) }
  }

  func result(messages: Int, _ slice: inout TimeSlice) async throws -> AnalysisResult {
    var lines = ["\(messages) messages, \(peaks.count) highlights"]
    if peaks.isEmpty, let busiest {
      lines.append(
        "\(time((origin + Int64(busiest.first)) * 1_000))  busiest: \(tenths(busiest.rate))/s after "
          + "\(tenths(busiest.baseline))/s, within what is usual for this chat")
    }
    var values: [JSONValue] = []
    for (index, peak) in peaks.enumerated() {
      let marks = try await marks(of: index, &slice)
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

  /// The words that mark a peak: those much more frequent in it than everywhere, weighted by how
  /// often they occur in it.
  private func marks(of peak: Int, _ slice: inout TimeSlice) async throws -> [String] {
    var best = Best<(text: String, score: Double)>(Self.wordLimit) { left, right in
      left.score != right.score ? left.score > right.score : left.text < right.text
    }
    for shard in 0..<words[peak].shardCount {
      for (hash, word) in words[peak].shard(shard) where word.count >= 3 {
        let here = Double(word.count) / Double(max(1, totals[peak]))
        let usual = Double(everywhere[hash] ?? word.count) / Double(max(1, total))
        best.offer((word.text, Double(word.count) * min(here / usual, 50)))
      }
      try await slice.yieldIfDue()
    }
    return best.elements.map(\.text)
  }
}

func tenths(_ number: Double) -> Double { (number * 10).rounded() / 10 }

/// The time of day in UTC, such as `13:17:57`.
func time(_ milliseconds: Int64) -> String {
  let seconds = Int(milliseconds / 1_000)
  return [seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60]
    .map { Format.padded($0, 2) }.joined(separator: ":")
}

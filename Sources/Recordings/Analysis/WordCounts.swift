package import LiveEvents

/// The words of a text, which are separated by spaces. The case of ASCII letters is ignored.
package enum ChatWords {
  /// Calls `body` with each word of a text that can mark a highlight, and with its hash.
  package static func forEach(
    in text: UnsafeBufferPointer<UInt8>,
    _ body: (_ hash: UInt64, _ word: Slice<UnsafeBufferPointer<UInt8>>) -> Void
  ) {
    for word in text.prefix(TextForm.longest)
      .split(separator: UInt8(ascii: " "), omittingEmptySubsequences: true)
    where word.count > 1 && word.count <= 32 {
      body(TextHash.of(word.lazy.map(\.asciiLowercased)), word)
    }
  }

  /// Returns the hashes of the words of a text.
  package static func hashes(of text: Text) -> Set<UInt64> {
    var hashes: Set<UInt64> = []
    text.withUTF8 { forEach(in: $0) { hash, _ in hashes.insert(hash) } }
    return hashes
  }
}

/// Counts the words of a chat: in the whole chat, where older words count less, and in each of the
/// newest seconds.
struct WordCounts: Sendable {
  /// The maximum numbers of words that are counted in the chat and in one second. They are limited
  /// because strangers choose the words.
  private static let limit = 8_192
  private static let limitPerSecond = 256
  /// The number of seconds whose words are kept: the window of a peak, and the provisional seconds.
  static let seconds: Int64 = 24
  /// The memory of the counts in bytes, including tables.
  static let memory = limit * 96 + Int(seconds) * limitPerSecond * 32

  private struct Word {
    let text: String
    var count: Int
  }

  private struct Second {
    var second = Int64.min
    var words: [UInt64: Int] = [:]
    var total = 0
  }

  private var everywhere = ShardedTable<Word>(shardCount: 64)
  private var total = 0
  /// The number of words in ``everywhere``.
  private var count = 0
  /// The newest seconds, by second modulo their number.
  private var recent = [Second](repeating: Second(), count: Int(seconds))

  mutating func add(_ text: UnsafeBufferPointer<UInt8>, at second: Int64) {
    let slot = slot(of: second)
    ChatWords.forEach(in: text) { hash, word in
      guard count < Self.limit || everywhere[hash] != nil else { return }
      var isNew = false
      func begin() -> Word {
        isNew = true
        return Word(text: String(decoding: word, as: UTF8.self), count: 0)
      }
      everywhere.update(hash, from: begin()) { $0.count += 1 }
      if isNew { count += 1 }
      total += 1
      guard let slot else { return }
      recent[slot].total += 1
      if recent[slot].words.count < Self.limitPerSecond || recent[slot].words[hash] != nil {
        recent[slot].words[hash, default: 0] += 1
      }
    }
  }

  /// Returns the index of a second in ``recent``; `nil` if the second is too old.
  private mutating func slot(of second: Int64) -> Int? {
    let slot = Int((second % Self.seconds + Self.seconds) % Self.seconds)
    if recent[slot].second < second {
      recent[slot].second = second
      recent[slot].words.removeAll(keepingCapacity: true)
      recent[slot].total = 0
    }
    return recent[slot].second == second ? slot : nil
  }

  /// Halves all counts and removes rare words once the limit is reached.
  mutating func age() {
    guard count >= Self.limit else { return }
    while count > Self.limit / 2 {
      count = 0
      for index in 0..<everywhere.shardCount {
        everywhere.changeShard(index) { words in
          words = words.compactMapValues {
            $0.count < 2 ? nil : Word(text: $0.text, count: $0.count / 2)
          }
          count += words.count
        }
      }
      total /= 2
    }
  }

  /// Returns the words that mark a time: those that are much more frequent in it than in the whole
  /// chat, weighted by their frequency in it.
  func marks(from first: Int64, through last: Int64) -> [Text] {
    var (words, here): ([UInt64: Int], Int) = ([:], 0)
    for second in recent where second.second >= first && second.second <= last {
      words.merge(second.words) { $0 + $1 }
      here += second.total
    }
    var best = Best<(text: String, score: Double)>(ChatHighlight.wordLimit) { left, right in
      left.score != right.score ? left.score > right.score : left.text < right.text
    }
    for (hash, count) in words where count >= 3 {
      guard let word = everywhere[hash] else { continue }
      let share = Double(count) / Double(max(1, here))
      let usual = Double(max(word.count, 1)) / Double(max(1, total))
      best.offer((word.text, Double(count) * min(share / usual, 50)))
    }
    return best.elements.map { Text($0.text) }
  }
}

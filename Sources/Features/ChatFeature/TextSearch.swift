package import LiveEvents

/// Searches a text for any of several words with an Aho-Corasick automaton that is built once.
/// Ignores the case of ASCII letters.
///
/// The words and the texts are untrusted. A search takes at most two steps per byte of the text,
/// even for repetitive words and texts, and allocates nothing.
package struct TextSearch: Sendable {
  /// The number of bytes of a text that are searched, eight times the longest message of the known
  /// platforms.
  package static let searchedBytes = 4_096

  /// The result of a search, and the number of steps of the automaton.
  package struct Outcome: Equatable {
    package var isFound: Bool
    package var steps: Int
  }

  private let words: [[UInt8]]
  private let wholeWord: Bool

  // The states are numbered level by level, so the children of a state form a range from
  // `firstChild[state]` up to `firstChild[state + 1]`, sorted by their bytes.
  private var firstChild: [Int32] = []
  /// The byte of the transition from the parent to each state.
  private var byte: [UInt8] = []
  /// The state of the longest suffix that is also a prefix of a word.
  private var fallback: [Int32] = []
  private var isEnd: [Bool] = []
  /// The successors of the initial state, by the byte read. Most bytes of most texts are read in
  /// the initial state.
  private var first: [Int32] = Array(repeating: 0, count: 256)

  /// - Parameters:
  ///   - words: The words. Empty words are never found.
  ///   - wholeWord: Whether a word counts only if no letter, digit, or `_` follows it.
  /// - Complexity: O(total length of the words, multiplied by the logarithm of their number).
  package init(_ words: [String], wholeWord: Bool = false) {
    let sorted = Set(words.map { $0.utf8.map(\.asciiLowercased) }).filter { !$0.isEmpty }
      .sorted { $0.lexicographicallyPrecedes($1) }
    self.words = sorted
    self.wholeWord = wholeWord
    if !sorted.isEmpty { build() }
  }

  package var isEmpty: Bool { words.isEmpty }

  private mutating func build() {
    /// The words that start with each state's prefix, the length of the prefix, and the parent
    /// state.
    var states = [(words: 0..<words.count, depth: 0, parent: 0)]
    byte = [0]
    var state = 0
    while state < states.count {
      let (range, depth, _) = states[state]
      firstChild.append(Int32(states.count))
      isEnd.append(depth == words[range.lowerBound].count)
      var start = isEnd[state] ? range.lowerBound + 1 : range.lowerBound
      while start < range.upperBound {
        let next = words[start][depth]
        let end = words[start..<range.upperBound].firstIndex { $0[depth] != next }
        byte.append(next)
        states.append((start..<(end ?? range.upperBound), depth + 1, state))
        start = end ?? range.upperBound
      }
      state += 1
    }
    firstChild.append(Int32(states.count))
    for child in children(of: 0) { first[Int(byte[child])] = Int32(child) }
    fallback = Array(repeating: 0, count: states.count)
    for state in states.indices.dropFirst() where states[state].parent != 0 {
      var steps = 0
      fallback[state] = Int32(
        follow(byte[state], from: Int(fallback[states[state].parent]), &steps))
      if isEnd[Int(fallback[state])] { isEnd[state] = true }
    }
  }

  private func children(of state: Int) -> Range<Int> {
    Int(firstChild[state])..<Int(firstChild[state + 1])
  }

  /// Returns the child of a state for a byte, by binary search.
  private func child(of state: Int, _ target: UInt8) -> Int? {
    var range = children(of: state)
    while range.count > 1 {
      let middle = range.lowerBound + range.count / 2
      range =
        byte[middle] <= target ? middle..<range.upperBound : range.lowerBound..<middle
    }
    return range.first.flatMap { byte[$0] == target ? $0 : nil }
  }

  private func follow(_ byte: UInt8, from start: Int, _ steps: inout Int) -> Int {
    var state = start
    while state != 0 {
      steps += 1
      if let child = child(of: state, byte) { return child }
      state = Int(fallback[state])
    }
    steps += 1
    return Int(first[Int(byte)])
  }

  /// Takes O(length of the text), and at most O(``searchedBytes``).
  package func occurs(in text: Text) -> Bool { text.withUTF8 { search($0).isFound } }

  package func search(_ bytes: UnsafeBufferPointer<UInt8>) -> Outcome {
    var outcome = Outcome(isFound: false, steps: 0)
    if isEmpty { return outcome }
    var state = 0
    for index in 0..<min(bytes.count, Self.searchedBytes) {
      state = follow(bytes[index].asciiLowercased, from: state, &outcome.steps)
      guard isEnd[state] else { continue }
      if !wholeWord || index + 1 == bytes.count || !isPartOfWord(bytes[index + 1]) {
        outcome.isFound = true
        return outcome
      }
    }
    return outcome
  }
}

extension TextSearch: Equatable {
  package static func == (left: TextSearch, right: TextSearch) -> Bool {
    left.words == right.words && left.wholeWord == right.wholeWord
  }
}

/// Returns whether a byte is a letter, a digit, `_`, or not ASCII.
private func isPartOfWord(_ byte: UInt8) -> Bool {
  byte >= 128 || byte == 95 || (byte >= 48 && byte <= 57)
    || (byte.asciiLowercased >= 97 && byte.asciiLowercased <= 122)
}

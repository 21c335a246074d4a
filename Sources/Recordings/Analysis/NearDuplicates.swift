import JSON
import LiveEvents

/// Finds messages that are nearly identical, by MinHash over runs of four bytes.
///
/// Texts that differ only in case, digits, repetition and white space count as one. The rest are
/// compared by signatures of 20 minima in 5 bands of 4: two texts that share 80 % of their runs
/// meet in a band with a probability of 93 %, two that share 50 % with 28 %. Texts that meet are
/// joined if 14 of the 20 minima agree.
struct NearDuplicates: Releasable {
  private static let bands = 5
  private static let rows = 4
  private static let minima = bands * rows
  private static let agreement = 14
  /// Shorter texts are often written by many people without being spam.
  private static let shortest = 12
  private static let longest = 512
  private static let clusterLimit = 50
  private static let smallestCluster = 5

  private struct Form {
    var parent: Int
    var messages: Int
    let sample: String
    let first: Timestamp
    var last: Timestamp
  }

  private static let seeds: [UInt64] = (1...UInt64(minima)).map { TextHash.mix($0) | 1 }

  private var messages = 0
  /// The number of each normalised text, by its hash.
  private var numbers = ShardedTable<Int>()
  private var forms = ChunkedArray<Form>()
  private var signatures = ChunkedArray<UInt32>()
  /// For each band, the first text that had these minima.
  private var buckets = ShardedTable<Int>()
  private var normalized: [UInt8] = []
  private var minimum = [UInt32](repeating: .max, count: minima)

  mutating func add(_ message: WrittenMessage) {
    messages += 1
    normalize(message.message.text)
    guard normalized.count >= Self.shortest else { return }
    let hash = TextHash.of(normalized)
    if let known = numbers[hash] {
      forms[known].messages += 1
      forms[known].last = max(forms[known].last, message.timestamp)
      return
    }
    let number = forms.count
    numbers[hash] = number
    forms.append(
      Form(
        parent: number, messages: 1, sample: String(message.message.text),
        first: message.timestamp, last: message.timestamp))
    sign()
    for value in minimum { signatures.append(value) }
    join(number)
  }

  /// Lower case, without digits, no byte more than twice in a row, single spaces between words.
  private mutating func normalize(_ text: Text) {
    normalized.removeAll(keepingCapacity: true)
    text.withUTF8 { bytes in
      for byte in bytes.prefix(Self.longest) {
        let byte = byte.asciiLowercased
        if byte &- UInt8(ascii: "0") < 10 { continue }
        let count = normalized.count
        if byte == 0x20, normalized.last == 0x20 || count == 0 { continue }
        if count >= 2, normalized[count - 1] == byte, normalized[count - 2] == byte { continue }
        normalized.append(byte)
      }
    }
    if normalized.last == 0x20 { normalized.removeLast() }
  }

  private mutating func sign() {
    for index in minimum.indices { minimum[index] = .max }
    normalized.withUnsafeBytes { bytes in
      for offset in 0...(bytes.count - 4) {
        let run = UInt64(bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
        let base = TextHash.mix(run)
        for index in 0..<Self.minima {
          let value = UInt32(truncatingIfNeeded: (base &* Self.seeds[index]) >> 32)
          if value < minimum[index] { minimum[index] = value }
        }
      }
    }
  }

  private mutating func join(_ number: Int) {
    for band in 0..<Self.bands {
      var key = UInt64(band)
      for row in 0..<Self.rows {
        key = TextHash.mix(key ^ UInt64(minimum[band * Self.rows + row]))
      }
      guard let other = buckets[key] else {
        buckets[key] = number
        continue
      }
      if root(other) != root(number), agrees(other) { forms[root(number)].parent = root(other) }
    }
  }

  private func agrees(_ other: Int) -> Bool {
    var same = 0
    for index in 0..<Self.minima
    where signatures[other * Self.minima + index] == minimum[index] { same += 1 }
    return same >= Self.agreement
  }

  /// The text that represents all those joined with this one.
  private mutating func root(_ number: Int) -> Int {
    var number = number
    while forms[number].parent != number {
      forms[number].parent = forms[forms[number].parent].parent
      number = forms[number].parent
    }
    return number
  }

  mutating func release(_ slice: inout TimeSlice) async {
    await numbers.release(&slice)
    await forms.release(&slice)
    await signatures.release(&slice)
    await buckets.release(&slice)
  }

  mutating func result(_ slice: inout TimeSlice) async throws -> AnalysisResult {
    struct Cluster {
      var root: Int
      var messages = 0
      var forms = 0
      var last = Timestamp.min
    }
    var clusters = ShardedTable<Cluster>()
    for number in 0..<forms.count {
      let (root, form) = (root(number), forms[number])
      clusters.update(TextHash.mix(UInt64(root)), from: Cluster(root: root)) { cluster in
        cluster.messages += form.messages
        cluster.forms += 1
        cluster.last = max(cluster.last, form.last)
      }
      if number % 32 == 0 { try await slice.yieldIfDue() }
    }
    var best = Best<Cluster>(Self.clusterLimit) { left, right in
      left.messages != right.messages ? left.messages > right.messages : left.root < right.root
    }
    var covered = 0
    var count = 0
    for index in 0..<clusters.shardCount {
      for cluster in clusters.shard(index).values where cluster.messages >= Self.smallestCluster {
        best.offer(cluster)
        covered += cluster.messages
        count += 1
      }
      try await slice.yieldIfDue()
    }
    await clusters.release(&slice)
    let values = best.elements.map { cluster -> JSONValue in
      [
        "messages": .integer(Int64(cluster.messages)), "forms": .integer(Int64(cluster.forms)),
        "sample": .string(forms[cluster.root].sample),
        "firstAt": .integer(forms[cluster.root].first), "lastAt": .integer(cluster.last),
      ]
    }
    return AnalysisResult(
      json: [
        "messages": .integer(Int64(messages)), "distinct": .integer(Int64(forms.count)),
        "clusters": .integer(Int64(count)), "covered": .integer(Int64(covered)),
        "top": .array(values),
      ],
      lines: ["\(messages) messages, \(covered) of them in \(count) clusters"]
        + best.elements.map { "\($0.messages) in \($0.forms) forms  \(forms[$0.root].sample)" })
  }
}

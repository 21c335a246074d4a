import JSON
import LiveEvents
import Wording

/// Finds nearly identical messages, see ``TextForm``.
struct NearDuplicates: Releasable {
  private static let clusterLimit = 50
  /// The smallest number of messages in a cluster, or in a burst of the running chat.
  static let smallestCluster = 5

  private struct Form {
    var messages: Int
    let sample: String
    let first: Timestamp
    var last: Timestamp
  }

  private var messages = 0
  private var index = FormIndex()
  private var forms = ChunkedArray<Form>()

  mutating func add(_ message: WrittenMessage) {
    messages += 1
    guard let (number, isNew) = message.message.text.withUTF8({ index.add($0) }) else { return }
    guard isNew else {
      forms[number].messages += 1
      forms[number].last = max(forms[number].last, message.timestamp)
      return
    }
    forms.append(
      Form(
        messages: 1, sample: String(message.message.text), first: message.timestamp,
        last: message.timestamp))
  }

  mutating func release(_ slice: inout TimeSlice) async {
    await index.release(&slice)
    await forms.release(&slice)
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
      let (root, form) = (index.root(of: number), forms[number])
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
      lines: [
        Format.count(messages, "message") + ", \(Format.count(covered)) of them in "
          + Format.count(count, "cluster")
      ]
        + zip(
          zip(
            Self.aligned(best.elements.map { Format.count($0.messages) }),
            Self.aligned(best.elements.map(\.forms), "form")),
          best.elements
        ).map { "\($0.0) in \($0.1)  \(forms[$1.root].sample)" })
  }

  /// Returns numbers with their unit, padded to the same width.
  private static func aligned(_ counts: [Int], _ noun: String) -> [String] {
    let texts = zip(aligned(counts.map { Format.count($0) }), counts).map { number, count in
      number.prefix { $0 == " " } + Format.count(count, noun)
    }
    let width = texts.map(\.count).max() ?? 0
    return texts.map { $0 + String(repeating: " ", count: width - $0.count) }
  }

  /// Returns numbers padded to the same width.
  static func aligned(_ numbers: [String]) -> [String] {
    let width = numbers.map(\.count).max() ?? 0
    return numbers.map { String(repeating: " ", count: width - $0.count) + $0 }
  }
}

import JSON
import LiveEvents
import Wording

/// Counts the messages of each person.
struct Chatters: Releasable {
  private static let limit = 50

  private struct Person {
    let id: String
    let name: String
    var messages = 0
    var first: Timestamp
    var last: Timestamp
  }

  private var people = ShardedTable<Person>()
  private var messages = 0

  mutating func add(_ message: WrittenMessage) {
    messages += 1
    let hash = message.message.userID.withUTF8 { TextHash.of($0) }
    let time = message.timestamp
    people.update(
      hash,
      from: Person(
        id: String(message.message.userID), name: String(message.message.userName), first: time,
        last: time)
    ) { person in
      person.messages += 1
      person.first = min(person.first, time)
      person.last = max(person.last, time)
    }
  }

  mutating func release(_ slice: inout TimeSlice) async { await people.release(&slice) }

  func result(_ slice: inout TimeSlice) async throws -> AnalysisResult {
    var count = 0
    /// The number of people, by their number of messages.
    var histogram: [Int: Int] = [:]
    var best = Best<Person>(Self.limit) { left, right in
      left.messages != right.messages ? left.messages > right.messages : left.id < right.id
    }
    for index in 0..<people.shardCount {
      for person in people.shard(index).values {
        count += 1
        histogram[person.messages, default: 0] += 1
        best.offer(person)
      }
      try await slice.yieldIfDue()
    }
    let order = histogram.sorted { $0.key < $1.key }
    func percentile(_ share: Double) -> Int {
      var rest = Int((Double(count) * share).rounded(.up))
      for (messages, people) in order {
        rest -= people
        if rest <= 0 { return messages }
      }
      return order.last?.key ?? 0
    }
    let (median, high) = (percentile(0.5), percentile(0.99))
    let values = best.elements.map { person -> JSONValue in
      [
        "id": .string(person.id), "name": .string(person.name),
        "messages": .integer(Int64(person.messages)), "firstAt": .integer(person.first),
        "lastAt": .integer(person.last),
      ]
    }
    return AnalysisResult(
      json: [
        "messages": .integer(Int64(messages)), "chatters": .integer(Int64(count)),
        "median": .integer(Int64(median)), "p99": .integer(Int64(high)), "top": .array(values),
      ],
      lines: [
        Format.count(messages, "message") + " by "
          + Format.count(count, "person", plural: "people")
          + "; median \(Format.count(median)), 99th percentile \(Format.count(high))"
      ]
        + zip(
          NearDuplicates.aligned(best.elements.map { Format.count($0.messages) }), best.elements
        ).map { "\($0)  \($1.name)" })
  }
}

import Analysis
import LiveEvents

/// The state of the analysis for bursts of duplicates.
package struct BurstBookkeeping: Equatable, Sendable, Codable {
  /// The maximum number of people counted in all bursts of duplicates together.
  static let peopleLimit = 32_768
  /// The maximum memory of the analysis in bytes, including the state of the search and its
  /// messages.
  package static let memory =
    BurstWindow.memory + 3 * MessageBatch.memory + BurstFinder.memory
    + 2 * KeyTable.bytes(for: peopleLimit) + ChatFindings.burstLimit * ChatFindings.sampleLength
    + HighlightFinder.memory + HiddenWords.memory
    + HighlightTimeline.limit * (MemoryLayout<ChatHighlight>.stride + ChatHighlight.wordLimit * 128)

  var window = BurstWindow()
  /// The batch that is being searched, at most one at a time.
  var underWay: MessageBatch?
  /// The messages that wait for the next run.
  var pending = MessageBatch()
  /// The number of the newest run.
  var run = 0
  /// The message counts of the authors in each burst of duplicates.
  private var people: [Int: KeyTable] = [:]
  /// The total number of keys in ``people``.
  private var peopleCount = 0

  init() {}

  private enum CodingKeys: String, CodingKey {
    case window, underWay, pending, run, people, peopleCount
  }

  /// The number of a burst, as a key of a saved table.
  private struct BurstNumber: CodingKey {
    let number: Int
    var intValue: Int? { number }
    var stringValue: String { "\(number)" }

    init(intValue: Int) { number = intValue }

    init?(stringValue: String) {
      guard let number = Int(stringValue) else { return nil }
      self.number = number
    }
  }

  /// Decodes the state. Recounts the people, and rejects more than ``peopleLimit``, because the
  /// file may be manipulated. Restarts the analysis if the message numbers are implausibly high,
  /// because later numbers would overflow.
  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    window = try values.decode(BurstWindow.self, forKey: .window)
    underWay = try values.decodeIfPresent(MessageBatch.self, forKey: .underWay)
    pending = try values.decode(MessageBatch.self, forKey: .pending)
    run = try values.decode(Int.self, forKey: .run)
    let tables = try values.nestedContainer(keyedBy: BurstNumber.self, forKey: .people)
    guard tables.allKeys.count <= ChatFindings.burstLimit else {
      throw DecodingError.dataCorruptedError(
        forKey: .people, in: values,
        debugDescription: "more than \(ChatFindings.burstLimit) bursts")
    }
    for key in tables.allKeys {
      people[key.number] = try tables.decode(KeyTable.self, forKey: key)
    }
    peopleCount = people.values.reduce(0) { $0 + $1.count }
    guard peopleCount <= Self.peopleLimit else {
      throw DecodingError.dataCorruptedError(
        forKey: .people, in: values, debugDescription: "more than \(Self.peopleLimit) people")
    }
    let latest = max(window.end, pending.end, underWay?.end ?? 0)
    if latest > Self.latestMessage { self = BurstBookkeeping() }
  }

  /// The highest message number to accept: half of the highest that can be saved, so that enough
  /// higher numbers remain.
  private static let latestMessage = EventLimits.total.upperBound / 2

  /// Adds messages to those that wait for the next run. Omits the messages at the `hidden` indices,
  /// which are in ascending order. Returns the number of messages that did not fit.
  mutating func add(_ batch: [TimedMessage], numberedFrom first: Int, without hidden: [Int]) -> Int
  {
    var left = 0
    var hidden = hidden[...]
    for index in batch.indices {
      if hidden.first == index {
        hidden.removeFirst()
      } else if pending.append(batch[index].message, at: batch[index].timestamp) {
        window.append(
          batch[index].message, ordinal: first + index, at: batch[index].timestamp)
      } else {
        left += 1
      }
    }
    return left
  }

  /// Begins the next run with the waiting messages, unless a run is in progress. Returns whether a
  /// run began.
  mutating func begin() -> Bool {
    guard underWay == nil, !pending.isEmpty else { return false }
    run += 1
    underWay = pending
    pending = MessageBatch(first: window.end)
    return true
  }

  // MARK: Results

  /// Applies the findings about the current batch, which ends the run. Returns the ordinals of
  /// messages of earlier batches that joined a burst of duplicates.
  mutating func end(_ findings: ChatFindings, _ bursts: inout Bursts) -> Set<Int> {
    guard let batch = underWay else { return [] }
    underWay = nil
    bursts.unanalysed += findings.unanalysed
    for sample in findings.samples {
      bursts.newest += 1
      bursts.current.append(Burst(number: bursts.newest, sample: String(sample)))
    }
    var successors: [Int: Int] = [:]
    // Bursts merge only into older bursts, so that the chain of successors ends.
    for merger in findings.mergers where merger.into < merger.burst {
      merge(merger, &bursts)
      successors[merger.burst] = merger.into
    }
    var joined: Set<Int> = []
    for members in findings.members {
      var number = members.burst
      while let successor = successors[number] { number = successor }
      guard let index = bursts.index(of: number) else { continue }
      let start = batch.first + members.offset
      for message in start..<start + members.count {
        guard let entry = window.assign(message, to: number) else { continue }
        count(entry, in: &bursts.current[index])
        if message < batch.first, let ordinal = window.ordinal(of: message) {
          joined.insert(ordinal)
        }
      }
    }
    trim(&bursts)
    return joined
  }

  private mutating func count(_ entry: BurstWindow.Entry, in burst: inout Burst) {
    burst.messages += 1
    burst.firstAt = min(burst.firstAt, entry.time)
    burst.lastAt = max(burst.lastAt, entry.time)
    let before = people[burst.number]?.count ?? 0
    let limit = before + Self.peopleLimit - peopleCount
    if people[burst.number, default: KeyTable()].count(entry.person, limit: limit) == nil {
      burst.peopleAtLeast = true
    } else if people[burst.number]?.count != before {
      burst.people += 1
      peopleCount += 1
    }
  }

  private mutating func merge(_ merger: ChatFindings.Merger, _ bursts: inout Bursts) {
    guard let index = bursts.index(of: merger.burst), let target = bursts.index(of: merger.into)
    else { return }
    let (one, other) = (bursts.current[index], bursts.current[target])
    var table = people[merger.into] ?? KeyTable()
    peopleCount -= table.count
    table.add(people[merger.burst] ?? KeyTable())
    peopleCount += table.count
    people[merger.into] = table
    window.move(merger.burst, to: merger.into)
    bursts.current[target].messages += one.messages
    bursts.current[target].people = table.count
    bursts.current[target].peopleAtLeast = one.peopleAtLeast ?? other.peopleAtLeast
    bursts.current[target].firstAt = min(one.firstAt, other.firstAt)
    bursts.current[target].lastAt = max(one.lastAt, other.lastAt)
    forget(merger.burst, &bursts)
  }

  /// Removes empty bursts of duplicates. If there are still too many, dissolves those with the
  /// fewest messages, which are then shown normally.
  private mutating func trim(_ bursts: inout Bursts) {
    for burst in bursts.current where burst.messages <= 0 { forget(burst.number, &bursts) }
    while bursts.current.count > ChatFindings.burstLimit,
      let least = bursts.current.min(by: { ($0.messages, $0.number) < ($1.messages, $1.number) })
    {
      window.move(least.number, to: 0)
      forget(least.number, &bursts)
    }
  }

  private mutating func forget(_ burst: Int, _ bursts: inout Bursts) {
    bursts.current.removeAll { $0.number == burst }
    peopleCount -= people.removeValue(forKey: burst)?.count ?? 0
  }

  // MARK: The end of bursts

  /// Ends the bursts of duplicates without recent messages, but not during a run of the analysis,
  /// whose findings may refer to such bursts.
  mutating func endSilent(_ bursts: inout Bursts, at now: Timestamp) {
    guard underWay == nil else { return }
    for burst in bursts.current {
      let (distance, overflow) = now.subtractingReportingOverflow(burst.lastAt)
      if overflow || distance.magnitude > BurstFinder.silence { forget(burst.number, &bursts) }
    }
  }

  /// Removes deleted messages from their bursts of duplicates, and from the results of a current
  /// run.
  mutating func hide(_ target: ModerationTarget, _ bursts: inout Bursts) {
    for entry in window.hide(target) {
      guard let index = bursts.index(of: entry.burst) else { continue }
      bursts.current[index].messages -= 1
      if people[entry.burst]?.uncount(entry.person) == 0 {
        bursts.current[index].people -= 1
        peopleCount -= 1
      }
    }
    switch target {
    case .everything:
      for burst in bursts.current { forget(burst.number, &bursts) }
    case .author(let id):
      // Messages of the person that have already left the window must also be removed.
      let key = id.withUTF8(ChatterSet.key)
      for index in bursts.current.indices {
        guard let rest = people[bursts.current[index].number]?.remove(key) else { continue }
        bursts.current[index].messages -= rest
        bursts.current[index].people -= 1
        peopleCount -= 1
      }
    case .message, .ordinals: break
    }
    trim(&bursts)
  }
}

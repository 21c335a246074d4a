package import LiveEvents

/// A search for bursts of duplicates in a batch of messages.
package struct BurstSearch: Equatable, Sendable {
  /// A known burst of duplicates.
  package struct Wave: Equatable, Sendable {
    package let number: Int
    package let sample: String

    package init(number: Int, sample: String) { (self.number, self.sample) = (number, sample) }
  }

  /// The number of the search, counted from 1.
  package let run: Int
  package let batch: MessageBatch
  package let waves: [Wave]
  /// The number of the newest burst, which may have ended.
  package let newest: Int

  package init(run: Int, batch: MessageBatch, waves: [Wave], newest: Int) {
    (self.run, self.batch, self.waves, self.newest) = (run, batch, waves, newest)
  }
}

/// Finds bursts of duplicates in a running chat: nearly identical messages (see ``TextForm``) that
/// follow each other.
///
/// The texts of earlier batches are remembered, at most ``capacity`` forms. A burst that continues
/// in the next batch therefore keeps its number. Known bursts are kept when other texts are
/// forgotten.
package struct BurstFinder: Sendable {
  /// The number of remembered forms at which all forms are forgotten, except those of bursts.
  private static let capacity = 4_096
  /// The memory of a finder in bytes: signatures, and table entries for forms and their bands.
  package static let memory = capacity * (TextForm.minima * 4 + (2 + TextForm.bands) * 48)
  /// The longest time between two messages of a burst, in milliseconds.
  package static let silence: Timestamp = 30_000

  /// Nearly identical messages.
  private struct Cluster {
    /// The number of the burst that the messages form; 0 while there are too few of them.
    var wave = 0
    /// The numbers of the messages; empty once they form a burst.
    var members: [Int] = []
    var last = Timestamp.min
  }

  /// The number of the search that can use the remembered texts.
  private var next = 1
  private var index = FormIndex(shardCount: 256)
  /// The clusters, by the numbers of the forms that represent them.
  private var clusters: [Int: Cluster] = [:]

  package init() {}

  /// Searches a batch. If the batch does not follow the previously searched one, for example after
  /// a restart, only the bursts named in `search` are known.
  ///
  /// - Parameter sliceNanoseconds: the time after which the search yields.
  /// - Throws: `CancellationError`. The finder must not be used afterwards.
  package mutating func find(
    _ search: BurstSearch, sliceNanoseconds: UInt64 = 700_000
  ) async throws -> ChatFindings {
    var slice = TimeSlice(length: sliceNanoseconds)
    return try await find(search, &slice)
  }

  mutating func find(
    _ search: BurstSearch, _ slice: inout TimeSlice
  ) async throws -> ChatFindings {
    if search.run != next { forget(knowing: search.waves) }
    next = search.run + 1
    endBursts(but: search.waves)
    var results = Results(search)
    for message in 0..<search.batch.count {
      if message % 32 == 31 { try await slice.yieldIfDue() }
      if index.count >= Self.capacity { forget(knowing: results.waves) }
      add(message, of: search.batch, &results)
    }
    return results.findings
  }

  private mutating func forget(knowing waves: [BurstSearch.Wave]) {
    index = FormIndex(shardCount: 256)
    clusters = [:]
    for wave in waves {
      var sample = wave.sample
      guard let form = sample.withUTF8({ index.add($0) }) else { continue }
      let root = index.root(of: form.number)
      // The samples of two bursts may be nearly identical. The older burst gets the next messages.
      if clusters[root] == nil { clusters[root] = Cluster(wave: wave.number) }
    }
  }

  /// Forgets bursts that have ended. Their texts may begin new ones.
  private mutating func endBursts(but known: [BurstSearch.Wave]) {
    let numbers = Set(known.map(\.number))
    clusters = clusters.filter { $0.value.wave == 0 || numbers.contains($0.value.wave) }
  }

  private mutating func add(_ message: Int, of batch: MessageBatch, _ results: inout Results) {
    guard let (form, isNew) = batch.withText(of: message, { index.add($0) }) else { return }
    if isNew { for (root, target) in index.joins { merge(root, into: target, &results) } }
    let root = index.root(of: form)
    var cluster = clusters[root] ?? Cluster()
    if cluster.wave == 0 {
      let time = batch.time(of: message)
      let (distance, overflow) = time.subtractingReportingOverflow(cluster.last)
      if overflow || distance.magnitude > Self.silence { cluster.members = [] }
      cluster.last = time
      cluster.members.append(batch.first + message)
      if cluster.members.count >= NearDuplicates.smallestCluster {
        cluster.wave = results.begin(batch.sample(of: message))
        if cluster.wave > 0 { results.add(cluster.members, to: cluster.wave) }
        // If the burst cannot begin in this search, its messages are counted anew.
        cluster.members = []
      }
      clusters[root] = cluster
    } else {
      results.add([batch.first + message], to: cluster.wave)
    }
  }

  private mutating func merge(_ root: Int, into target: Int, _ results: inout Results) {
    guard let one = clusters.removeValue(forKey: root) else { return }
    guard var other = clusters[target] else {
      clusters[target] = one
      return
    }
    if one.wave > 0, other.wave > 0 {
      other.wave = results.merge(one.wave, other.wave)
    } else if one.wave > 0 || other.wave > 0 {
      other.wave = max(one.wave, other.wave)
      results.add(one.members + other.members, to: other.wave)
      other.members = []
    } else {
      other.members = (one.members + other.members).sorted()
    }
    other.last = max(one.last, other.last)
    clusters[target] = other
  }

  /// The findings of a search, while it runs.
  private struct Results {
    private let first: Int
    private let newest: Int
    private(set) var findings: ChatFindings
    private(set) var waves: [BurstSearch.Wave]

    init(_ search: BurstSearch) {
      first = search.batch.first
      newest = search.newest
      waves = search.waves
      findings = ChatFindings(run: search.run)
    }

    /// Begins a burst and returns its number; 0 if no more bursts can begin in this search.
    mutating func begin(_ sample: String) -> Int {
      guard findings.samples.count < ChatFindings.burstLimit else { return 0 }
      findings.samples.append(Text(sample))
      let number = newest + findings.samples.count
      waves.append(BurstSearch.Wave(number: number, sample: sample))
      return number
    }

    /// Merges two bursts and returns the number of the result.
    mutating func merge(_ one: Int, _ other: Int) -> Int {
      let (older, younger) = (min(one, other), max(one, other))
      guard older != younger else { return older }
      findings.mergers.append(.init(burst: younger, into: older))
      waves.removeAll { $0.number == younger }
      return older
    }

    mutating func add(_ messages: [Int], to wave: Int) {
      for message in messages {
        let offset = message - first
        if let last = findings.members.last, last.burst == wave, last.offset + last.count == offset
        {
          findings.members[findings.members.count - 1].count += 1
        } else {
          findings.members.append(.init(offset: offset, count: 1, burst: wave))
        }
      }
    }
  }
}

package import LiveEvents

/// What the running chat is searched for, and where.
package struct BurstSearch: Equatable, Sendable {
  /// A wave that is known.
  package struct Wave: Equatable, Sendable {
    package let number: Int
    package let sample: String

    package init(number: Int, sample: String) { (self.number, self.sample) = (number, sample) }
  }

  /// The number of the run, from 1.
  package let run: Int
  package let batch: MessageBatch
  package let waves: [Wave]
  /// The number of the newest wave, which may have ended.
  package let newest: Int

  package init(run: Int, batch: MessageBatch, waves: [Wave], newest: Int) {
    (self.run, self.batch, self.waves, self.newest) = (run, batch, waves, newest)
  }
}

/// Finds waves in a chat while it runs: messages that are nearly identical, see ``TextForm``, and
/// follow each other.
///
/// Remembers the texts of earlier batches, at most ``capacity`` forms, so that a wave is found that
/// begins in one batch and continues in the next, and keeps its number. Waves outlive what is
/// remembered.
package struct BurstFinder: Sendable {
  /// How many forms are remembered; then only those of the waves.
  private static let capacity = 4_096
  /// What it takes, in bytes: signatures, and what tables take for a form and its bands.
  package static let memory = capacity * (TextForm.minima * 4 + (2 + TextForm.bands) * 48)
  /// Messages of a wave follow each other after at most this time, in milliseconds.
  package static let silence: Timestamp = 30_000

  /// What is known of nearly identical messages.
  private struct Cluster {
    /// The number of their wave; 0 while there are too few.
    var wave = 0
    /// The messages of what is no wave yet, by their number among all that were analysed.
    var members: [Int] = []
    var last = Timestamp.min
  }

  /// The run that can continue it.
  private var next = 1
  private var index = FormIndex(shardCount: 256)
  /// By the form that represents them.
  private var clusters: [Int: Cluster] = [:]

  package init() {}

  /// Looks at a batch. If it does not follow the one before, as after a restart, only the waves are
  /// known.
  ///
  /// - Parameter sliceNanoseconds: how long it works before it yields.
  /// - Throws: `CancellationError`, after which it must not be used.
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
      take(message, of: search.batch, &results)
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
      // Samples of two waves may be nearly identical without having met: the older gets what comes.
      if clusters[root] == nil { clusters[root] = Cluster(wave: wave.number) }
    }
  }

  /// Forgets the numbers of waves that have ended. Their texts may begin others.
  private mutating func endBursts(but known: [BurstSearch.Wave]) {
    let numbers = Set(known.map(\.number))
    clusters = clusters.filter { $0.value.wave == 0 || numbers.contains($0.value.wave) }
  }

  private mutating func take(_ message: Int, of batch: MessageBatch, _ results: inout Results) {
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
        // Those of a wave that cannot begin yet are too few by the time it can.
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

  /// The findings of a run while they grow.
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

    /// Begins a wave. Returns its number; 0 if no more waves can begin in this run.
    mutating func begin(_ sample: String) -> Int {
      guard findings.samples.count < ChatFindings.burstLimit else { return 0 }
      findings.samples.append(Text(sample))
      let number = newest + findings.samples.count
      waves.append(BurstSearch.Wave(number: number, sample: sample))
      return number
    }

    /// Makes one wave of two. Returns its number.
    mutating func merge(_ one: Int, _ other: Int) -> Int {
      let (older, younger) = (min(one, other), max(one, other))
      guard older != younger else { return older }
      findings.mergers.append(.init(wave: younger, into: older))
      waves.removeAll { $0.number == younger }
      return older
    }

    mutating func add(_ messages: [Int], to wave: Int) {
      for message in messages {
        let offset = message - first
        if let last = findings.members.last, last.wave == wave, last.offset + last.count == offset {
          findings.members[findings.members.count - 1].count += 1
        } else {
          findings.members.append(.init(offset: offset, count: 1, wave: wave))
        }
      }
    }
  }
}

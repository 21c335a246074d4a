package import LiveEvents

/// A row of the feed: an activity of one person, or similar activities of several people at about
/// the same time. Owns its texts.
package struct ActivityRow: Equatable, Sendable, Codable {
  package enum Kind: String, Sendable, CaseIterable, Codable {
    case follow, redemption, announcement, hypeTrain
    // The chat reports the following kinds as notices.
    case subscribe, resubscribe, gift, giftBomb, raid, cheer

    init(_ kind: ChatNotice.Kind) {
      self =
        switch kind {
        case .subscribe: .subscribe
        case .resubscribe: .resubscribe
        case .gift: .gift
        case .giftBomb: .giftBomb
        case .raid: .raid
        case .cheer: .cheer
        }
    }

    /// Whether similar rows of this kind are combined.
    var folds: Bool {
      switch self {
      case .follow, .redemption, .subscribe, .resubscribe, .gift, .cheer: true
      case .announcement, .hypeTrain, .giftBomb, .raid: false
      }
    }
  }

  /// The number of the row in the room, starting at 1, by which the host refers to the row.
  package fileprivate(set) var number = 0
  package let kind: Kind
  /// The name of the person. If several activities are combined, this is the person of the newest
  /// activity. `nil` if unknown.
  package fileprivate(set) var name: String?
  /// The number of activities that the row combines.
  package fileprivate(set) var times = 1
  /// The points, months, gifts, viewers, bits, or level, depending on the kind. If the row combines
  /// several activities, this is the sum of their numbers.
  package fileprivate(set) var count: Int
  /// The title of the reward.
  package var title: String?
  package fileprivate(set) var text: String?
  /// The start and end positions of the text's emotes as a flat list. `nil` without emotes.
  package fileprivate(set) var emotes: [Int]?
  /// The author and identifier of the message in the row, so that moderators can remove its text.
  private var author: String?
  private var message: String?
  /// The timestamp of the newest activity.
  package fileprivate(set) var timestamp: Timestamp
  package fileprivate(set) var isPinned = false
  /// The platform and the source of the newest activity; `nil` if unknown.
  package let platform: String?
  package fileprivate(set) var source: String?

  init(
    _ kind: Kind, by person: Person?, count: Int = 0, at timestamp: Timestamp,
    from origin: Origin = .none
  ) {
    self.kind = kind
    name = person.map { String($0.name.isEmpty ? $0.id : $0.name) }
    self.count = count
    self.timestamp = timestamp
    let (platform, source) = (origin.platform, origin.source)
    self.platform = platform.isEmpty ? nil : String(platform)
    self.source = source.isEmpty ? nil : String(source)
  }

  /// The maximum length of a text in bytes of UTF-8.
  static let textLength = 512

  /// Adds the text that the person wrote in the message with this identifier.
  mutating func setText(
    _ words: Text?, _ emotes: [Range<Int>], by person: Person?, in message: Text?
  ) {
    guard let words, !words.isEmpty else { return }
    let shortened = words.cut(to: Self.textLength)
    text = String(shortened)
    let usable = EmoteRanges.usable(emotes, in: shortened)
    self.emotes = usable.isEmpty ? nil : EmoteRanges.positions(of: usable)
    author = person.map { String($0.id) }
    self.message = message.map { String($0) }
  }

  /// Returns whether the row contains a text that a moderator removed.
  fileprivate func containsText(of retraction: ActivityFeature.Retraction) -> Bool {
    guard text != nil else { return false }
    switch retraction {
    case .everything: return true
    case .message(let id): return Self.areAlike(message, String(id))
    case .person(let person) where person.id.isEmpty:
      return name.map { person.isNamed(Text($0)) } ?? false
    case .person(let person): return Self.areAlike(author, String(person.id))
    }
  }

  fileprivate mutating func removeWords() {
    (text, emotes, author, message) = (nil, nil, nil, nil)
  }

  /// The memory that the row uses, in bytes.
  fileprivate var byteCount: Int {
    MemoryLayout<ActivityRow>.stride + (name?.utf8.count ?? 0) + (title?.utf8.count ?? 0)
      + (text?.utf8.count ?? 0) + (emotes?.count ?? 0) * MemoryLayout<Int>.stride
      + (author?.utf8.count ?? 0) + (message?.utf8.count ?? 0)
      + (platform?.utf8.count ?? 0) + (source?.utf8.count ?? 0)
  }

  fileprivate func isLike(_ other: ActivityRow) -> Bool {
    kind == other.kind && !isPinned && Self.areAlike(title, other.title)
      && Self.areAlike(platform, other.platform)
  }

  private static func areAlike(_ left: String?, _ right: String?) -> Bool {
    switch (left, right) {
    case (nil, nil): true
    // Bytes are compared, because the texts are untrusted.
    case (let left?, let right?): left.utf8.elementsEqual(right.utf8)
    case (nil, _?), (_?, nil): false
    }
  }

  /// Adds to the row an activity that happened at about the same time.
  fileprivate mutating func fold(_ other: ActivityRow) {
    times += 1
    (name, source) = (other.name, other.source)
    (text, emotes, author, message) = (other.text, other.emotes, other.author, other.message)
    timestamp = max(timestamp, other.timestamp)
    // A larger number could not be saved.
    count = min(count.saturatingSum(other.count), EventLimits.total.upperBound)
  }
}

/// The newest rows, the newest last. A pinned row stays until it is unpinned or dismissed. If many
/// similar activities happen within a short time, the first few get their own rows, and the others
/// are combined into one row with a count.
package struct ActivityFeed: Equatable, Sendable, Codable {
  /// The maximum number of rows. ``byteLimit`` is the maximum memory in bytes.
  package static let limit = 50
  package static let byteLimit = 32 << 10
  /// The maximum number of pinned rows, so that new rows always fit.
  package static let pinnedLimit = 8
  /// Once this many similar rows appeared within ``foldWindow``, the newest of them combines all
  /// further activities.
  package static let foldAfter = 3
  /// The period in which activities are combined, in milliseconds of the events' time.
  package static let foldWindow: Timestamp = 10_000

  package private(set) var rows: [ActivityRow] = []
  /// The number of activities so far.
  package private(set) var total = 0

  package init() {}

  /// Adds a notice of the chat with its number of gifts, months, viewers, or bits.
  package mutating func add(
    _ notice: ChatNotice, count: Int, at time: Timestamp, from origin: Origin = .none
  ) {
    var row = ActivityRow(.init(notice.kind), by: notice.user, count: count, at: time, from: origin)
    row.setText(
      notice.message?.text, notice.message?.emotes ?? [], by: notice.user, in: notice.message?.id)
    add(row)
  }

  mutating func retract(_ retraction: ActivityFeature.Retraction) {
    for index in rows.indices where rows[index].containsText(of: retraction) {
      rows[index].removeWords()
    }
  }

  /// Returns whether a row contains a text that a moderator removed.
  package func containsText(of retraction: ActivityFeature.Retraction) -> Bool {
    rows.contains { $0.containsText(of: retraction) }
  }

  mutating func add(_ row: ActivityRow) {
    total += 1
    if row.kind.folds {
      let alike = rows.indices.filter { index in
        let (age, overflow) = row.timestamp.subtractingReportingOverflow(rows[index].timestamp)
        return !overflow && age.magnitude <= Self.foldWindow && rows[index].isLike(row)
      }
      if alike.count >= Self.foldAfter, let newest = alike.last {
        rows[newest].fold(row)
        return makeRoom(for: 0, 0)
      }
    }
    makeRoom(for: 1, row.byteCount)
    var row = row
    row.number = total
    rows.append(row)
  }

  private mutating func makeRoom(for count: Int, _ bytes: Int) {
    var sum = rows.reduce(bytes) { $0 + $1.byteCount }
    while rows.count + count > Self.limit || sum > Self.byteLimit,
      let oldest = rows.firstIndex(where: { !$0.isPinned })
    {
      sum -= rows.remove(at: oldest).byteCount
    }
  }

  mutating func pin(_ number: Int, _ isPinned: Bool) {
    guard let index = rows.firstIndex(where: { $0.number == number }) else { return }
    if isPinned, rows.count(where: \.isPinned) >= Self.pinnedLimit { return }
    rows[index].isPinned = isPinned
  }

  mutating func dismiss(_ number: Int) { rows.removeAll { $0.number == number } }

  /// The rows in display order: pinned rows, then the others, each newest first.
  package var shown: [ActivityRow] {
    rows.reversed().filter(\.isPinned) + rows.reversed().filter { !$0.isPinned }
  }

  /// Whether the rows belong to several platforms, so that each row must show its platform.
  package var isMixed: Bool {
    let platforms = rows.lazy.compactMap(\.platform)
    guard let first = platforms.first else { return false }
    return platforms.contains { !$0.utf8.elementsEqual(first.utf8) }
  }
}

extension ActivityFeed: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try check(rows, atMost: Self.limit, "rows")
    try require(countable: total, in: "total")
  }
}

extension ActivityRow: Bounded {
  package func checkBounds() throws(OutOfBounds) {
    try require(countable: number, times, count, in: "count")
    try require(times: timestamp, in: "timestamp")
    try require(names: name, title, author, message, platform, source, in: "name")
    try require(text?.utf8.count ?? 0 <= Self.textLength, "text")
    let emotes = emotes ?? []
    try require(
      emotes.count <= 2 * EmoteRanges.limit && emotes.allSatisfy(EmoteRanges.positions.contains),
      "emotes")
  }
}

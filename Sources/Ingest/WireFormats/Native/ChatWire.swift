import JSON
import LiveEvents

extension ChatEvent: NativeEvent {
  enum NativeType: String, CaseIterable {
    case message = "chat.message"
    case delete = "chat.delete"
    case clear = "chat.clear"
    case timeout = "chat.timeout"
    case notice = "chat.notice"
    case modes = "chat.modes"
    case filter = "host.filter"
    case highlight = "host.highlight"
    case scroll = "host.scroll"
    case openThread = "host.thread"
    case openPerson = "host.person"
    case notePerson = "host.note"
    case handleNotice = "host.notice"
    case findings = "chat.waves"

    /// Whether only this program writes the type, in its log and recordings.
    var isOwn: Bool { self == .findings }
  }

  var nativeType: NativeType {
    switch self {
    case .message: .message
    case .delete: .delete
    case .clear: .clear
    case .timeout: .timeout
    case .notice: .notice
    case .modes: .modes
    case .filter: .filter
    case .highlight: .highlight
    case .scroll: .scroll
    case .openThread: .openThread
    case .openPerson: .openPerson
    case .notePerson: .notePerson
    case .handleNotice: .handleNotice
    case .findings: .findings
    }
  }

  init(_ type: NativeType, from line: borrowing NativeMembers) throws(RejectionReason) {
    self =
      switch type {
      case .message: .message(try line.chatMessage())
      case .delete: .delete(messageID: try line.name(.id))
      case .clear: .clear
      case .timeout:
        .timeout(
          ChatTimeout(
            user: try line.silencedPerson(),
            seconds: line.optionalInteger(.seconds, in: EventLimits.count)))
      case .notice:
        .notice(
          ChatNotice(
            kind: try line.choice(.kind), user: try line.person(),
            count: try line.integer(.count, in: EventLimits.count),
            group: line.optionalName(.group), id: line.optionalName(.id),
            message: try line.noticeMessage()))
      case .modes: .modes(try ChatModes(line))
      case .filter:
        .filter(
          MessageFilter(
            person: try line.exact(.user) { (line, _) throws(RejectionReason) in
              try line.personID()
            },
            words: try line.exactName(.words),
            mentionsOnly: try line.exactBool(.mentionsOnly) ?? false,
            platform: try line.exactName(.platform)))
      case .highlight:
        .highlight(names: try line.names(.names, atMost: Self.maximumHighlightedNames))
      case .scroll: .scroll(try line.choice(.position))
      case .openThread: .openThread(messageID: try line.exactName(.message))
      case .openPerson:
        .openPerson(line.has(.user) ? try PersonReference(line) : nil)
      case .notePerson: .notePerson(try PersonNote(line))
      case .handleNotice:
        .handleNotice(
          number: try line.integer(.notice, in: EventLimits.total), try line.choice(.handling))
      case .findings: .findings(try ChatFindings(line))
      }
  }

  func write(to object: inout JSONWriter) {
    switch self {
    case .message(let message):
      object.add("id", message.id)
      object.add(
        "user", Person(id: message.userID, name: message.userName), badges: message.badges,
        color: message.color)
      object.add(wordsOf: message)
      if !message.kind.isEmpty { object.add("kind", message.kind) }
    case .delete(let messageID): object.add("id", messageID)
    case .clear: break
    case .timeout(let timeout):
      object.add("user", timeout.user)
      object.add("seconds", timeout.seconds)
    case .notice(let notice):
      object.add("id", notice.id)
      object.add("kind", notice.kind.rawValue)
      object.add(
        "user", notice.user, badges: notice.message?.badges, color: notice.message?.color)
      object.add("count", notice.count)
      object.add("group", notice.group)
      if let message = notice.message { object.add(wordsOf: message) }
    case .modes(let modes): modes.write(to: &object)
    case .filter(let filter):
      object.add("user", filter.person)
      object.add("words", filter.words)
      if filter.mentionsOnly { object.add("mentionsOnly", true) }
      object.add("platform", filter.platform)
    case .highlight(let names):
      object.addArray("names") { array in for name in names { array.append(name) } }
    case .scroll(let position): object.add("position", position.rawValue)
    case .openThread(let messageID): object.add("message", messageID)
    case .openPerson(let person): person?.write(to: &object)
    case .notePerson(let note):
      note.person.write(to: &object)
      object.add("text", note.text)
    case .handleNotice(let number, let handling):
      object.add("notice", number)
      object.add("handling", handling.rawValue)
    case .findings(let findings): findings.write(to: &object)
    }
  }
}

extension JSONWriter {
  fileprivate mutating func add(wordsOf message: ChatMessage) {
    add("text", message.text)
    if !message.replyTo.isEmpty { add("replyTo", message.replyTo) }
    if message.bits > 0 { add("bits", Int(message.bits)) }
    if !message.channel.isEmpty { add("channel", message.channel) }
    if message.isAction { add("action", true) }
    add(emotes: message.emotes)
  }

  /// Adds the positions of emotes in the text.
  mutating func add(emotes: [Range<Int>]) {
    guard !emotes.isEmpty else { return }
    addArray("emotes") { array in
      for position in EmoteRanges.positions(of: emotes) { array.append(position) }
    }
  }
}

extension NativeMembers {
  @inline(__always)
  func chatMessage() throws(RejectionReason) -> ChatMessage {
    let id = try nameSlice(.id)
    try requireUserObject()
    return try chatMessage(id: id, kind: has(.kind) ? optionalName(.kind) : nil)
  }

  @inline(__always)
  private func chatMessage(
    id: ByteSlab.Slice, kind: Text?
  ) throws(RejectionReason) -> ChatMessage {
    let userID = try nameSlice(.userID)
    let slices = ChatMessage.Slices(
      id: id, userID: userID,
      userName: optional(.userName) { (line, member) throws(RejectionReason) in
        try line.shortSlice(member)
      } ?? userID,
      badges: optional(.userBadges) { (line, _) throws(RejectionReason) in try line.badges() }
        ?? .empty,
      text: try slice(.text),
      replyTo: optional(.replyTo) { (line, member) throws(RejectionReason) in
        try line.shortSlice(member)
      } ?? .empty)
    let message = ChatMessage(
      slab: slab, slices: slices,
      color: optional(.userColor) { (line, _) throws(RejectionReason) in try line.color() },
      isAction: optionalBool(.action) == true)
    // A copy with more storage is made only for the few messages that have such properties.
    guard has(.bits) || has(.channel) || has(.emotes) || has(.kind) else { return message }
    let emotes = optionalEmotes()
    let owned = message.owned(
      channel: optionalName(.channel),
      bits: UInt32(optionalInteger(.bits, in: EventLimits.count) ?? 0), emotes: emotes, kind: kind)
    countUnusable(emotes, usable: owned.emoteCount)
    return owned
  }

  /// Returns the message that a person wrote with a notice, if there is one.
  fileprivate func noticeMessage() throws(RejectionReason) -> ChatMessage? {
    let text = optional(.text) { (line, member) throws(RejectionReason) in try line.slice(member) }
    guard let text, !text.isEmpty else { return nil }
    let id = optional(.id) { (line, member) throws(RejectionReason) in try line.nameSlice(member) }
    return try chatMessage(id: id ?? .empty, kind: try name(.kind))
  }

  /// Returns the usable positions of emotes in the text of an event that is not a message.
  func emotes(in text: Text) -> [Range<Int>] {
    let emotes = optionalEmotes()
    let usable = EmoteRanges.usable(emotes, in: text)
    countUnusable(emotes, usable: usable.count)
    return usable
  }

  private func optionalEmotes() -> [Range<Int>] {
    optional(.emotes) { (line, _) throws(RejectionReason) in try line.emotes() } ?? []
  }

  /// Counts emotes that lie beyond the end of the text or overlap others.
  private func countUnusable(_ emotes: [Range<Int>], usable: Int) {
    if usable < emotes.count { remarks.pointee.append(.field(NativeMember.emotes.path)) }
  }

  private func emotes() throws(RejectionReason) -> [Range<Int>] {
    let positions = try integers(
      .emotes, in: EmoteRanges.positions, atMost: 2 * EmoteRanges.limit)
    guard let ranges = EmoteRanges.paired(positions) else { throw invalid(.emotes) }
    return ranges
  }

  private func color() throws(RejectionReason) -> NameColor {
    guard let color = try text(.userColor).withUTF8({ NameColor($0) }) else { throw .invalidValue }
    return color
  }

  /// Reads the badges: one string as shown to viewers, or an array of strings.
  private func badges() throws(RejectionReason) -> ByteSlab.Slice {
    let value = values[NativeMember.userBadges.rawValue]
    guard value.kind == .array else { return try slice(.userBadges) }
    try forEachElement(of: value) { element throws(RejectionReason) in
      guard element.kind == .string || element.kind == .escapedString else { throw .invalidValue }
    }
    return ByteSlab.Slice(
      offset: bytesOffset + Int(value.start) + 1, count: Int(value.count) - 2, escape: .jsonStrings)
  }
}

extension ChatModes {
  init(_ line: borrowing NativeMembers) throws(RejectionReason) {
    self.init(
      slowSeconds: line.optionalInteger(.slowSeconds, in: EventLimits.count),
      emoteOnly: line.optionalBool(.emoteOnly),
      followersOnlyMinutes: line.optionalInteger(
        .followersOnlyMinutes, in: -1...EventLimits.count.upperBound),
      subscribersOnly: line.optionalBool(.subscribersOnly),
      uniqueOnly: line.optionalBool(.uniqueOnly))
    guard self != ChatModes() else { throw .missingMember }
  }

  func write(to object: inout JSONWriter) {
    object.add("slowSeconds", slowSeconds)
    object.add("emoteOnly", emoteOnly)
    object.add("followersOnlyMinutes", followersOnlyMinutes)
    object.add("subscribersOnly", subscribersOnly)
    object.add("uniqueOnly", uniqueOnly)
  }
}

/// Reads and writes the findings of the chat analysis.
///
/// Bursts of duplicates, their mergers and highlights are encoded as flat arrays of integers. A row
/// has three numbers for members of a burst, two for a merger and six for a highlight. The last
/// number of a highlight is how many entries of `words` belong to it.
extension ChatFindings {
  /// The valid offsets of messages in bursts of duplicates. Messages with other offsets have left
  /// the analysis.
  private static let offsets = -2 * batchLimit...batchLimit
  private static let numbers = offsets.lowerBound...EventLimits.count.upperBound

  fileprivate init(_ line: borrowing NativeMembers) throws(RejectionReason) {
    self.init(
      run: try line.integer(.run, in: EventLimits.count),
      unanalysed: line.has(.count) ? try line.integer(.count, in: EventLimits.count) : 0)
    if line.has(.samples) {
      samples = try line.names(.samples, atMost: Self.burstLimit, ofLength: Self.sampleLength)
    }
    if line.has(.mergers) {
      for pair in try line.rows(.mergers, of: 2, in: EventLimits.count, atMost: Self.batchLimit) {
        guard pair[1] < pair[0] else { throw line.invalid(.mergers) }
        mergers.append(Merger(burst: pair[0], into: pair[1]))
      }
    }
    if line.has(.members) {
      for row in try line.rows(.members, of: 3, in: Self.numbers, atMost: 2 * Self.batchLimit) {
        guard Self.offsets.contains(row[0]), (1...Self.batchLimit).contains(row[1]), row[2] > 0
        else { throw line.invalid(.members) }
        members.append(Members(offset: row[0], count: row[1], burst: row[2]))
      }
      guard members.reduce(0, { $0 + $1.count }) <= 2 * Self.batchLimit
      else { throw line.invalid(.members) }
    }
    if line.has(.highlights) { highlights = try Self.highlights(line) }
  }

  private static func highlights(
    _ line: borrowing NativeMembers
  ) throws(RejectionReason) -> [ChatHighlight] {
    let rows = try line.rows(
      .highlights, of: 6, in: NativeMembers.timestamps, atMost: highlightLimit)
    var words =
      line.has(.words)
      ? try line.names(.words, atMost: ChatHighlight.wordLimit * rows.count)[...] : []
    var highlights: [ChatHighlight] = []
    for row in rows {
      let counts = row[1...4]
      guard counts.allSatisfy({ EventLimits.count.contains($0) }),
        (0...ChatHighlight.wordLimit).contains(row[5]), row[5] <= words.count
      else { throw line.invalid(.highlights) }
      highlights.append(
        ChatHighlight(
          startedAt: Timestamp(row[0]), seconds: row[1], messages: row[2], busiest: row[3],
          usual: row[4], words: Array(words.prefix(row[5]))))
      words = words.dropFirst(row[5])
    }
    guard words.isEmpty else { throw line.invalid(.words) }
    return highlights
  }

  fileprivate func write(to object: inout JSONWriter) {
    object.add("run", run)
    if unanalysed > 0 { object.add("count", unanalysed) }
    if !samples.isEmpty {
      object.addArray("samples") { array in for sample in samples { array.append(sample) } }
    }
    if !mergers.isEmpty {
      object.addArray("mergers") { array in
        for merger in mergers {
          array.append(merger.burst)
          array.append(merger.into)
        }
      }
    }
    if !members.isEmpty {
      object.addArray("members") { array in
        for row in members {
          array.append(row.offset)
          array.append(row.count)
          array.append(row.burst)
        }
      }
    }
    if !highlights.isEmpty {
      object.addArray("highlights") { array in
        for highlight in highlights {
          array.append(Int(highlight.startedAt))
          array.append(highlight.seconds)
          array.append(highlight.messages)
          array.append(highlight.busiest)
          array.append(highlight.usual)
          array.append(highlight.words.count)
        }
      }
      let words = highlights.flatMap(\.words)
      if !words.isEmpty {
        object.addArray("words") { array in for word in words { array.append(word) } }
      }
    }
  }
}

extension NativeMembers {
  /// Returns an array of integers as rows of `width` elements.
  fileprivate func rows(
    _ member: NativeMember, of width: Int, in range: ClosedRange<Int>, atMost limit: Int
  ) throws(RejectionReason) -> [[Int]] {
    let integers = try integers(member, in: range, atMost: width * limit)
    guard integers.count % width == 0 else { throw invalid(member) }
    return stride(from: 0, to: integers.count, by: width).map {
      Array(integers[$0..<($0 + width)])
    }
  }
}

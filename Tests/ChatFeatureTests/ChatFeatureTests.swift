import ChatFeature
import LiveEvents
import Testing

@Suite struct ChatFeatureTests {
  @Test func `messages are counted and shown in the order of their arrival`() {
    var state = ChatFeature.State()
    state.apply(
      .messages([message(1, at: 1_000), message(2, by: "bob", at: 900)]),
      .messages([message(3, at: 1_100)]))
    #expect(state.total == 3)
    #expect(state.chatters == 2)
    #expect(state.rate == 3)
    #expect(state.shown == ["m1", "m2", "m3"])
    #expect(state.messages.map(\.number) == [1, 2, 3])
  }

  @Test func `each person is counted once, however long the identifier is`() {
    var state = ChatFeature.State()
    let users = ["", "1", "10", "fifteen-letters", "sixteen-letters!", "sixteen-letters!!"]
    for round in 0..<3 {
      let batch = users.enumerated().map { message(round * 10 + $0, by: $1, at: 1_000) }
      state.apply(.messages(batch))
    }
    #expect(state.chatters == users.count)
    #expect(state.total == 3 * users.count)
  }

  @Test func `two people whose identifiers differ only in zero bytes are counted separately`() {
    var state = ChatFeature.State()
    state.apply(.messages([message(1, by: "a", at: 0), message(2, by: "a\0", at: 0)]))
    #expect(state.chatters == 2)
  }

  @Test func `clearing the chat removes all messages and counts them as deleted`() {
    var state = ChatFeature.State()
    state.apply(.messages([message(1, at: 1_000), message(2, at: 5_000)]), .cleared(at: 2_000))
    #expect(state.shown.isEmpty)
    #expect(state.deleted == 2)
    #expect(state.total == 2)
    #expect(state.moderations == 1)
  }

  @Test func `a time-out removes only the messages of the timed-out person`() {
    var state = ChatFeature.State()
    state.apply(
      .messages([message(1, at: 1_000), message(2, by: "bob", at: 1_000), message(3, at: 1_001)]),
      .timedOut(timeout("ann"), at: 1_500))
    #expect(state.shown == ["m2"])
    #expect(state.deleted == 2)
    #expect(state.moderations == 1)
  }

  @Test func `a time-out that contains only a name removes the messages written under that name`() {
    var state = ChatFeature.State()
    let named = { (id: String, user: String, name: String) in
      TimedMessage(
        timestamp: 1_000, message: ChatMessage(id: id, userID: user, userName: name, text: "x"))
    }
    state.apply(
      .messages([named("m1", "7", "Ann"), named("m2", "ann", "ann"), named("m3", "8", "Bob")]),
      .timedOut(ChatTimeout(user: Person(id: "", name: "ANN"), seconds: nil), at: 1_500))
    #expect(state.shown == ["m3"])
    #expect(state.moderations == 1, "one act, whoever is meant")
  }

  @Test(arguments: [ChatNotice.Kind.resubscribe, .raid])
  func `a message in a notice stays until a moderator removes it`(
    kind: ChatNotice.Kind
  ) {
    var state = ChatFeature.State()
    let words = ChatMessage(
      id: "n", userID: "u", userName: "Ann", text: "hello", kind: kind.rawValue)
    let notice = ChatNotice(
      kind: kind, user: Person(id: "u", name: "Ann"), count: 3, id: "n", message: words)
    state.apply(.notice(notice, at: 1_000))
    #expect(state.notices.entries.map(\.notice.message) == [words])
    #expect(state.messages.isEmpty && state.total == 0)
    state.apply(.messageDeleted("other", at: 1_050), .timedOut(timeout("bob"), at: 1_060))
    #expect(state.notices.entries.map(\.notice.message) == [words])
    for removal: ChatFeature.Action in [
      .messageDeleted("n", at: 1_100), .timedOut(timeout("u"), at: 1_100), .cleared(at: 1_100),
      .timedOut(ChatTimeout(user: Person(id: "", name: "ANN"), seconds: 5), at: 1_100),
    ] {
      var state = state
      state.apply(removal)
      #expect(state.notices.entries.map(\.notice.message) == [nil], "\(removal)")
      #expect(state.notices.entries.map(\.notice.kind) == [kind])
    }
  }

  @Test func `the message of a gift can be deleted while the gift waits for its gift bomb`() {
    var state = ChatFeature.State()
    let ann = Person(id: "u", name: "Ann")
    let words = ChatMessage(id: "n", userID: "u", userName: "Ann", text: "rude")
    state.apply(
      .notice(
        ChatNotice(kind: .gift, user: ann, count: 1, group: "g", id: "n", message: words),
        at: 1_000),
      .messageDeleted("n", at: 1_100),
      .notice(ChatNotice(kind: .gift, user: ann, count: 1, group: "other"), at: 20_000))
    #expect(state.notices.entries.map(\.notice.message) == [nil])
  }

  @Test func `a deletion removes one message`() {
    var state = ChatFeature.State()
    state.apply(
      .messages([message(1, at: 1_000), message(2, at: 1_000)]), .messageDeleted("m1", at: 1_000))
    #expect(state.shown == ["m2"])
    #expect(state.deleted == 1)
  }

  @Test func `moderation of a chat message that is not shown is counted but deletes nothing`() {
    var state = ChatFeature.State()
    state.apply(
      .messages([message(1, at: 1_000)]), .messageDeleted("m9", at: 1),
      .timedOut(timeout("bob"), at: 1))
    #expect(state.shown == ["m1"])
    #expect(state.deleted == 0)
    #expect(state.moderations == 2)
  }

  @Test func `messages that arrive after their moderation are counted but not shown`() {
    var state = ChatFeature.State()
    state.apply(
      .timedOut(timeout("ann"), at: 2_000), .messageDeleted("m2", at: 1_000),
      .messages([
        message(1, at: 1_999), message(2, by: "bob", at: 1_999), message(3, by: "bob", at: 1_999),
      ]))
    #expect(state.shown == ["m3"])
    #expect(state.deleted == 2)
    #expect(state.total == 3)
    #expect(state.chatters == 2)
    state.apply(.cleared(at: 3_000), .messages([message(4, by: "cyd", at: 2_999)]))
    #expect(state.shown.isEmpty)
    #expect(state.deleted == 4)
  }

  @Test func `a message written after a time-out is shown`() {
    var state = ChatFeature.State()
    state.apply(
      .cleared(at: 2_000), .timedOut(timeout("ann"), at: 2_000),
      .messages([message(1, at: 2_000), message(2, at: 2_001)]))
    #expect(state.shown == ["m1", "m2"])
    #expect(state.deleted == 0)
  }

  @Test func `a clear with a timestamp far in the future does not hide later messages`() {
    var state = ChatFeature.State()
    state.apply(.cleared(at: 4_102_444_800_000), .timedOut(timeout("ann"), at: .max))
    state.apply(.messages([message(1, at: 1_000)]))
    #expect(state.shown == ["m1"])
    // A clear with a correct timestamp still works afterwards.
    state.apply(.timedOut(timeout("ann"), at: 2_000), .messages([message(2, at: 1_500)]))
    #expect(state.shown.isEmpty)
    #expect(state.deleted == 2)
  }

  @Test func `a change of one chat mode leaves the other chat modes unchanged`() {
    var state = ChatFeature.State()
    state.apply(
      .modesChanged(ChatModes(slowSeconds: 30, emoteOnly: true)),
      .modesChanged(ChatModes(emoteOnly: false)))
    #expect(state.modes == ChatModes(slowSeconds: 30, emoteOnly: false))
  }

  @Test func `the message rate falls while the chat is silent`() {
    var state = ChatFeature.State()
    state.apply(.messages([message(1, at: 1_000), message(2, at: 1_600)]))
    #expect(state.rate == 2)
    state.apply(.ticked(at: 2_000))
    #expect(state.rate == 1)
    state.apply(.ticked(at: 1_500))
    #expect(state.rate == 1)
    state.apply(.ticked(at: 2_600))
    #expect(state.rate == 0)
    #expect(state.busiestSecond.sliding == 2)
  }
}

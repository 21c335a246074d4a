import ChatFeature
import LiveEvents
import Testing

@Suite struct ChatReadingTests {
  private func state(_ messages: TimedMessage...) -> ChatFeature.State {
    var state = ChatFeature.State(historyLimit: 20)
    state.apply(.messages(messages))
    return state
  }

  // MARK: Scrolling

  @Test
  func `messages that arrive while the host is scrolled back are unread until the end is shown`() {
    var state = state(message(1), message(2))
    state.apply(.reading(.scrolledBack), .messages([message(3), message(4)]))
    #expect(state.unread == 2)
    #expect(state.readUpTo == 2)
    state.apply(.reading(.scrolledBack))
    #expect(state.readUpTo == 2, "The position must be that of the first scroll.")
    state.apply(.reading(.scrolledToEnd))
    #expect(state.unread == 0)
    state.apply(.messages([message(5)]))
    #expect(state.unread == 0)
  }

  @Test func `unread messages are still counted after they have left the history`() {
    var state = state(message(1))
    state.apply(.reading(.scrolledBack), .messages((2...101).map { message($0) }))
    #expect(state.messages.count == 20)
    #expect(state.unread == 100)
  }

  @Test func `messages that moderation removes or hides are not counted as unread`() {
    var state = state(message(1, by: "bob"))
    state.apply(
      .reading(.scrolledBack), .messages([message(2, by: "bob"), message(3), message(4)]),
      .timedOut(timeout("bob"), at: 2_000))
    #expect(state.unread == 2)
    state.apply(.messages([message(5, by: "bob", at: 1_500)]), .messageDeleted("m4", at: 2_000))
    #expect(state.unread == 1)
    state.apply(.cleared(at: 3_000))
    #expect(state.unread == 0)
  }

  // MARK: Filters

  @Test func `a chat filter applies to existing and to new messages`() {
    var state = state(message(1, "Hello there"), message(2, by: "bob", "bye"))
    state.apply(.reading(.filterChanged(ChatFilter(words: "HELLO"))))
    #expect(state.passing == ["m1"])
    state.apply(.messages([message(3, "no"), message(4, "say hello")]))
    #expect(state.passing == ["m1", "m4"])
    #expect(state.shown.count == 4)
    state.apply(.messageDeleted("m1", at: 2_000))
    #expect(state.passing == ["m4"])
    #expect(!ChatFilter(platform: "kick").isEmpty)
    state.apply(.reading(.filterChanged(ChatFilter())))
    #expect(state.passing == nil)
    #expect(state.filter == nil)
  }

  @Test func `a message is shown only if it meets all conditions of the chat filter`() {
    var state = state(
      message(1, by: "bob", "@Ann hello"), message(2, by: "bob", "hello"),
      message(3, by: "cyd", "@ann hello"), message(4, by: "bob", "@ann bye"))
    state.apply(
      .reading(.mentionedNamesChanged(["ann"])),
      .reading(.filterChanged(ChatFilter(person: "bob", words: "hello", mentionsOnly: true))))
    #expect(state.passing == ["m1"])
  }

  @Test func `only messages that pass the chat filter are counted as unread`() {
    var state = state(message(1, "x"))
    state.apply(
      .reading(.filterChanged(ChatFilter(person: "bob"))), .reading(.scrolledBack),
      .messages([message(2), message(3, by: "bob"), message(4, by: "bob")]))
    #expect(state.unread == 2)
    state.apply(.timedOut(timeout("bob"), at: 2_000))
    #expect(state.unread == 0)
  }

  @Test func `the filtered history contains exactly the newest messages that pass the filter`() {
    var state = ChatFeature.State(historyLimit: 5)
    state.apply(.reading(.filterChanged(ChatFilter(person: "bob"))))
    for id in 1...30 {
      state.apply(.messages([message(id, by: id.isMultiple(of: 3) ? "bob" : "ann")]))
    }
    #expect(
      state.passing == ["m18", "m21", "m24", "m27", "m30"], "These are the last messages that pass."
    )
  }

  // MARK: Mentions

  @Test(arguments: [
    ("@ann", true), ("hi @ANN!", true), ("@anna", false), ("ann", false), ("@ann_", false),
    ("", false),
    ("@an @ann", true),
  ])
  func `an @ followed by a watched name as a whole word is a mention`(text: String, isMention: Bool)
  {
    var before = state(message(1, text))
    before.apply(.reading(.mentionedNamesChanged(["Ann", ""])))
    #expect(before.messages.first?.isMention == isMention)
    var after = state()
    after.apply(.reading(.mentionedNamesChanged(["Ann"])), .messages([message(1, text)]))
    #expect(after.messages.first?.isMention == isMention)
  }

  @Test func `without watched names, no message is a mention`() {
    var state = state(message(1, "@ann"))
    state.apply(.reading(.mentionedNamesChanged(["ann"])), .reading(.mentionedNamesChanged([])))
    #expect(state.messages.first?.isMention == false)
  }

  // MARK: A long history

  @Test func `a new filter searches a long history over several frames, one part per frame`() {
    let long = String(repeating: "@", count: 4_000)
    var state = ChatFeature.State(historyLimit: 300)
    state.apply(
      .messages((1...300).map { message($0, $0.isMultiple(of: 2) ? long + "@ann" : long) }))
    let names = (0..<31).map { String(repeating: "@", count: 255 - $0) + "x" } + ["ann"]
    state.apply(
      .reading(.mentionedNamesChanged(names)),
      .reading(.filterChanged(ChatFilter(mentionsOnly: true))))
    #expect(state.isReviewing)
    #expect((1..<150).contains(state.passing?.count ?? 0), "\(state.passing?.count ?? 0)")
    // During the review, messages arrive and are deleted. The deleted message has already left the
    // history.
    state.apply(.messages([message(301, "@ann"), message(302)]), .messageDeleted("m2", at: 2_000))
    var parts = 0
    while state.isReviewing {
      state.apply(.reviewContinued)
      parts += 1
    }
    #expect((3..<20).contains(parts), "\(parts)")
    let mentions = state.messages.filter(\.isMention).map { String($0.message.id) }
    #expect(mentions.count == 150)
    #expect(state.passing == mentions)
    #expect(mentions.last == "m301")
    state.apply(.reviewContinued)
    #expect(state.passing == mentions, "there is nothing left to do")
  }

  @Test func `unread mentions of a name are no longer unread after another name is watched`() {
    var state = state(message(1, "@ann"), message(2, "@bob"))
    state.apply(
      .reading(.mentionedNamesChanged(["ann"])),
      .reading(.filterChanged(ChatFilter(mentionsOnly: true))), .reading(.scrolledBack),
      .messages([message(3, "@ann"), message(4, "@ann")]))
    #expect(state.unread == 2)
    state.apply(.reading(.mentionedNamesChanged(["bob"])), .timedOut(timeout("ann"), at: 9_000))
    #expect(state.unread == 0)
  }

  // MARK: Threads

  @Test func `a reply to a reply belongs to the thread of the first message`() {
    let state = state(
      message(1), message(2, answering: 1), message(3), message(4, answering: 2),
      message(5, answering: 99))
    #expect(state.messages.map(\.thread) == [nil, 1, nil, 1, nil])
    #expect(state.messages.map { $0.answered == nil } == [true, false, true, false, true])
  }

  @Test func `an open thread adds its replies and removes deleted messages`() {
    var state = state(message(1), message(2, by: "bob", answering: 1), message(3))
    state.apply(.reading(.threadOpened(messageID: "m2")))
    #expect(state.thread?.root == 1)
    #expect(state.inThread == ["m1", "m2"])
    state.apply(
      .messages([message(4, answering: 2), message(5), message(6, by: "bob", answering: 1)]))
    #expect(state.inThread == ["m1", "m2", "m4", "m6"])
    state.apply(.timedOut(timeout("bob"), at: 2_000))
    #expect(state.inThread == ["m1", "m4"])
    state.apply(.reading(.threadClosed))
    #expect(state.thread == nil)
    state.apply(.reading(.threadOpened(messageID: "m77")))
    #expect(state.thread == nil, "there is no such message")
  }

  // MARK: Top chatters

  @Test
  func `people with more messages rank higher; of equal people, the first to reach the number`() {
    var state = ChatFeature.State()
    var batch: [TimedMessage] = []
    let writers = [
      "eve": 3, "a person with a long name": 9, "bob": 5, "cyd": 5, "dan": 1, "fay": 4,
    ]
    for round in 0..<9 {
      for name in writers.keys.sorted() where writers[name, default: 0] > round {
        batch.append(message(batch.count, by: name))
      }
    }
    state.apply(.messages(Array(batch.prefix(10))), .messages(Array(batch.dropFirst(10))))
    #expect(
      state.topChatters.map(\.userID) == ["a person with a long name", "bob", "cyd", "fay", "eve"])
    #expect(state.topChatters.map(\.messages) == [9, 5, 5, 4, 3])
    #expect(state.topChatters.first?.name == "A PERSON WITH A LONG NAME")
    #expect(state.chatters == 6)
  }
}

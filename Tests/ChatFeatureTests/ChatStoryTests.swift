import ChatFeature
import ComposableTesting
import LiveEvents
import Testing

@Suite struct ChatStoryTests {
  @Test func `a host reads the chat, scrolls back, pins a raid, and filters by one person`() async {
    let store = TestStore(initialState: ChatFeature.State()) { ChatFeature() }
    store.exhaustivity = .off
    await store.send(.messages([message(1), message(2, by: "bob", answering: 1)])) {
      $0.total = 2
      $0.chatters = 2
    }
    await store.send(.notice(notice(.raid, count: 40), at: 1_000)) { $0.noticeCount = 1 }

    store.exhaustivity = .on
    await store.send(.reading(.noticePinned(1))) { $0.notices.pin(1) }
    await store.send(.reading(.scrolledBack)) { $0.readUpTo = 2 }
    await store.send(.modesChanged(ChatModes(slowSeconds: 5))) { $0.modes.slowSeconds = 5 }

    store.exhaustivity = .off
    await store.send(.messages([message(3, by: "bob")])) { $0.unread = 1 }
    await store.send(.reading(.filterChanged(ChatFilter(person: "bob")))) {
      $0.filter = ChatFilter(person: "bob")
      $0.unread = 0
      $0.readUpTo = nil
    }
    #expect(store.state.passing == ["m2", "m3"])
    await store.send(.timedOut(timeout("bob"), at: 2_000)) {
      $0.moderations = 1
      $0.deleted = 2
    }
    #expect(store.state.passing == [])
    await store.finish()
  }
}

extension NoticeBoard {
  fileprivate mutating func pin(_ number: Int) {
    var state = ChatFeature.State()
    state.notices = self
    state.apply(.reading(.noticePinned(number)))
    self = state.notices
  }
}

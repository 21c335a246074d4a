import HangSimulation
import LiveEvents
import YAMLReader

extension GeneratedType {
  static let chat = [
    GeneratedType("chat.message", keys: ["people"]) { section throws(ConfigurationError) in
      let people = try section["people"]?.integer(in: 1...10_000_000) ?? 60
      return PayloadPattern(.event { .chat(.message($0.message(of: people, &$1))) })
    },
    GeneratedType("chat.delete") { .chat(.delete(messageID: $1.recentMessage(&$0.random))) },
    GeneratedType("chat.clear") { _, _ in .chat(.clear) },
    GeneratedType("chat.timeout", keys: ["seconds"]) { section throws(ConfigurationError) in
      let seconds = try section["seconds"]?.integer(in: 1...Int.max)
      return PayloadPattern(
        .event { state, _ in
          .chat(.timeout(ChatTimeout(user: state.person(), seconds: seconds)))
        })
    },
    GeneratedType("chat.notice", keys: ["kind"]) { section throws(ConfigurationError) in
      let kinds = ChatNotice.Kind.allCases.map { ($0.rawValue, $0) }
      let kind = try section["kind"]?.choice(kinds) ?? .subscribe
      return PayloadPattern(
        kind == .giftBomb
          ? .batch { $0.giftBomb(of: $1, $2) }
          : .event { state, _ in .chat(.notice(state.notice(kind))) })
    },
    GeneratedType("chat.modes") { state, _ in
      .chat(.modes(ChatModes(slowSeconds: state.occasions % 2 == 1 ? 10 : 0)))
    },
  ]
}

extension PayloadMaker.State {
  /// Returns a message from a random person; `people` is the number of people.
  fileprivate mutating func message(of people: Int, _ shared: inout SourceState) -> ChatMessage {
    let person = random.integer(in: 0...(people - 1))
    let text = random.pick(Self.texts)
    var slices = ChatMessage.Slices(id: .empty, userID: .empty, userName: .empty, text: .empty)
    let slab = ByteSlab(capacity: TextWriter.capacity) { target in
      var writer = TextWriter(target)
      slices.id = writer.slice { shared.newMessage(&$0) }
      slices.userID = writer.slice { InventedPeople.writeName(person, to: &$0) }
      slices.userName = writer.slice { InventedPeople.writeName(person, to: &$0) }
      slices.text = writer.slice { $0.append(text) }
      return writer.count
    }
    return ChatMessage(slab: slab, slices: slices)
  }

  private static let texts: [StaticString] = [
    "love the intro", "what about the map", "again, please", "please show the cat",
    "wow, that jump",
    "nice: the new song", "who is that?", "hello from the train", "this is the best part",
    "can you turn the microphone up a little?",
  ]

  fileprivate mutating func notice(_ kind: ChatNotice.Kind) -> ChatNotice {
    let count = kind == .subscribe || kind == .gift ? 1 : random.integer(in: 2...500)
    return ChatNotice(kind: kind, user: person(), count: count)
  }

  /// Emits a gift bomb and its gifts, which share a group.
  fileprivate mutating func giftBomb(of size: Int, _ emit: PayloadMaker.Emit) {
    let giver = person()
    let group = Text("bomb-\(source)-\(occasions)")
    func notice(_ kind: ChatNotice.Kind, _ count: Int) -> LiveEvent.Payload {
      .chat(.notice(ChatNotice(kind: kind, user: giver, count: count, group: group)))
    }
    emit(.zero, 0, notice(.giftBomb, size))
    let gift = notice(.gift, 1)
    for index in 0..<size { emit(.zero, index + 1, gift) }
  }
}

package import JSON
package import Varlink

/// The states of a watched room: the replies of `MonitorRoom` with the patches applied.
package struct RoomStates: AsyncSequence, Sendable {
  package typealias Failure = VarlinkClientError

  /// A reply and the state that it leads to.
  package struct Element: Sendable {
    package let reply: MonitorRoomReply
    /// In the form of `GetRoom`.
    package let room: JSONValue

    /// The typed state.
    /// - Throws: `DecodingError` if the daemon's report does not have this client's form.
    package func report() throws -> RoomReport { try room.decode() }
  }

  let replies: ReplySequence<MonitorRoomReply>

  package func makeAsyncIterator() -> Iterator {
    Iterator(replies: replies.makeAsyncIterator())
  }

  package struct Iterator: AsyncIteratorProtocol {
    fileprivate var replies: ReplySequence<MonitorRoomReply>.Iterator
    private var room: JSONValue?

    fileprivate init(replies: ReplySequence<MonitorRoomReply>.Iterator) {
      self.replies = replies
    }

    package mutating func next() async throws(VarlinkClientError) -> Element? {
      guard let reply = try await replies.next() else { return nil }
      if let whole = reply.room {
        room = whole
      } else if let patch = reply.patch, let before = room {
        room = MergePatch.apply(patch, to: before)
      } else {
        throw .unexpectedReply("neither a state nor a patch for one")
      }
      return Element(reply: reply, room: room ?? .null)
    }
  }
}

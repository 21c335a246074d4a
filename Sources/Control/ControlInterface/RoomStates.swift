public import JSON
public import Varlink

/// The states of a watched room: the replies of `MonitorRoom` with the patches applied.
public struct RoomStates: AsyncSequence, Sendable {
  public typealias Failure = VarlinkClientError

  /// A reply and the state that it leads to.
  public struct Element: Sendable {
    public let reply: MonitorRoomReply
    /// In the form of `GetRoom`.
    public let room: JSONValue

    /// The typed state.
    /// - Throws: `DecodingError` if the daemon's report does not have this client's form.
    public func report() throws -> RoomReport { try room.decode() }
  }

  let replies: ReplySequence<MonitorRoomReply>

  public func makeAsyncIterator() -> Iterator {
    Iterator(replies: replies.makeAsyncIterator())
  }

  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var replies: ReplySequence<MonitorRoomReply>.Iterator
    private var room: JSONValue?

    fileprivate init(replies: ReplySequence<MonitorRoomReply>.Iterator) {
      self.replies = replies
    }

    public mutating func next() async throws(VarlinkClientError) -> Element? {
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

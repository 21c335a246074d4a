public import JSON
public import Varlink

/// The states of a watched room: the replies of `MonitorRoom` with the patches applied.
public struct RoomStates: AsyncSequence, Sendable {
  public typealias Failure = VarlinkClientError

  /// A reply and the state that it leads to.
  public struct Element: Sendable {
    public let reply: MonitorRoomReply
    /// In the form of `GetRoom`: parts of the screen that the room lacks are null.
    public let room: JSONValue

    /// The typed state.
    /// - Throws: `DecodingError` if the daemon's report is not of this client's form.
    public func report() throws -> RoomReport { try room.decode() }
  }

  let replies: ReplySequence<MonitorRoomReply>
  let features: [Feature]?

  public func makeAsyncIterator() -> Iterator {
    Iterator(replies: replies.makeAsyncIterator(), shown: features ?? Feature.allCases)
  }

  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var replies: ReplySequence<MonitorRoomReply>.Iterator
    fileprivate let shown: [Feature]
    private var room: JSONValue?

    fileprivate init(replies: ReplySequence<MonitorRoomReply>.Iterator, shown: [Feature]) {
      self.replies = replies
      self.shown = shown
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
      return Element(reply: reply, room: withNulls(room ?? .null))
    }

    /// Puts back the nulls that patches cannot carry, so that each state has the same members.
    private func withNulls(_ room: JSONValue) -> JSONValue {
      guard case .object(var members) = room else { return room }
      var parts = members["features"]?.objectValue ?? [:]
      for feature in shown where parts[feature.rawValue] == nil { parts[feature.rawValue] = .null }
      if var recorder = parts[Feature.recorder.rawValue]?.objectValue {
        recorder["progress"] = recorder["progress"] ?? .null
        parts[Feature.recorder.rawValue] = .object(recorder)
      }
      members["features"] = .object(parts)
      return .object(members)
    }
  }
}

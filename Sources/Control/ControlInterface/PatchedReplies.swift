package import JSON
package import Varlink

/// A reply of a method that sends a value as a whole first, and merge patches for it afterwards.
package protocol PatchReply: Decodable, Sendable {
  /// What the value means to this version.
  associatedtype Report: Decodable
  var whole: JSONValue? { get }
  var patch: JSONValue? { get }
}

extension MonitorRoomReply: PatchReply {
  package typealias Report = RoomReport
  package var whole: JSONValue? { room }
}

extension MonitorScreenReply: PatchReply {
  package typealias Report = ScreenReport
  package var whole: JSONValue? { screen }
}

/// The states of a watched room, in the form of `GetRoom`.
package typealias RoomStates = PatchedReplies<MonitorRoomReply>

/// The screens of a watched room.
package typealias Screens = PatchedReplies<MonitorScreenReply>

/// The replies to a watching call, with the patches applied.
package struct PatchedReplies<Reply: PatchReply>: AsyncSequence, Sendable {
  package typealias Failure = VarlinkClientError

  /// A reply and the value that it leads to.
  package struct Element: Sendable {
    package let reply: Reply
    package let value: JSONValue

    /// The typed value.
    /// - Throws: `unexpectedReply` if the daemon's report does not have this client's form.
    package func report() throws(VarlinkClientError) -> Reply.Report { try value.report() }
  }

  let replies: ReplySequence<Reply>

  package func makeAsyncIterator() -> Iterator { Iterator(replies: replies.makeAsyncIterator()) }

  package struct Iterator: AsyncIteratorProtocol {
    fileprivate var replies: ReplySequence<Reply>.Iterator
    private var value: JSONValue?

    fileprivate init(replies: ReplySequence<Reply>.Iterator) { self.replies = replies }

    package mutating func next() async throws(VarlinkClientError) -> Element? {
      guard let reply = try await replies.next() else { return nil }
      if let whole = reply.whole {
        value = whole
      } else if let patch = reply.patch, let before = value {
        value = MergePatch.apply(patch, to: before)
      } else {
        throw .unexpectedReply("neither a state nor a patch for one")
      }
      return Element(reply: reply, value: value ?? .null)
    }
  }
}

extension JSONValue {
  /// - Throws: `unexpectedReply` if this is not a report that this client knows.
  func report<Report: Decodable>() throws(VarlinkClientError) -> Report {
    do { return try decode() } catch { throw .unexpectedReply("not a \(Report.self): \(error)") }
  }
}

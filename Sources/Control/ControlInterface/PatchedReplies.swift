package import JSON
package import Varlink

/// A reply of a method whose first reply contains a complete value, and whose later replies contain
/// merge patches for this value.
package protocol PatchReply: Decodable, Sendable {
  /// The typed form of the value.
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

/// The states of a monitored room, each in the form of a reply of `GetRoom`.
package typealias RoomStates = PatchedReplies<MonitorRoomReply>

/// The screens of a monitored room, each in the form of `GetScreen`.
package typealias Screens = PatchedReplies<MonitorScreenReply>

/// The replies to a monitoring call, with merge patches applied to the first value.
package struct PatchedReplies<Reply: PatchReply>: AsyncSequence, Sendable {
  package typealias Failure = VarlinkClientError

  /// A reply, and the value that results from applying its patch.
  package struct Element: Sendable {
    package let reply: Reply
    package let value: JSONValue

    /// Returns the typed value. Throws `unexpectedReply` if the value does not have the form that
    /// this client expects.
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
        throw .unexpectedReply("neither a state nor a patch of a known state")
      }
      return Element(reply: reply, value: value ?? .null)
    }
  }
}

extension JSONValue {
  /// Decodes this value as a report. Throws `unexpectedReply` if the value does not have the form
  /// of the report.
  func report<Report: Decodable>() throws(VarlinkClientError) -> Report {
    do { return try decode() } catch { throw .unexpectedReply("not a \(Report.self): \(error)") }
  }
}

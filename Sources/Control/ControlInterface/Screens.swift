import JSON
package import Varlink

/// The screens of a watched room: the replies of `MonitorScreen` with the patches applied.
package struct Screens: AsyncSequence, Sendable {
  package typealias Failure = VarlinkClientError

  let replies: ReplySequence<MonitorScreenReply>

  package func makeAsyncIterator() -> Iterator { Iterator(replies: replies.makeAsyncIterator()) }

  static func report(_ screen: JSONValue) throws(VarlinkClientError) -> ScreenReport {
    do { return try screen.decode() } catch { throw .unexpectedReply("not a screen: \(error)") }
  }

  package struct Iterator: AsyncIteratorProtocol {
    fileprivate var replies: ReplySequence<MonitorScreenReply>.Iterator
    private var screen: JSONValue?

    fileprivate init(replies: ReplySequence<MonitorScreenReply>.Iterator) {
      self.replies = replies
    }

    package mutating func next() async throws(VarlinkClientError) -> ScreenReport? {
      guard let reply = try await replies.next() else { return nil }
      if let whole = reply.screen {
        screen = whole
      } else if let patch = reply.patch, let before = screen {
        screen = MergePatch.apply(patch, to: before)
      } else {
        throw .unexpectedReply("neither a screen nor a patch for one")
      }
      return try Screens.report(screen ?? .null)
    }
  }
}

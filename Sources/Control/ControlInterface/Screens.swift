public import JSON
public import Varlink

/// A reply of `MonitorScreen`.
public struct MonitorScreenReply: Codable, Sendable, Equatable {
  /// Number of the state that this reply leads to.
  public let sequence: UInt64
  /// The whole screen, in the first reply.
  public let screen: JSONValue?
  /// What to change in the screen before, in later ones: a merge patch.
  public let patch: JSONValue?
}

/// The screens of a watched room: the replies of `MonitorScreen` with the patches applied.
public struct Screens: AsyncSequence, Sendable {
  public typealias Failure = VarlinkClientError

  let replies: ReplySequence<MonitorScreenReply>

  public func makeAsyncIterator() -> Iterator { Iterator(replies: replies.makeAsyncIterator()) }

  static func report(_ screen: JSONValue) throws(VarlinkClientError) -> ScreenReport {
    do { return try screen.decode() } catch { throw .unexpectedReply("not a screen: \(error)") }
  }

  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var replies: ReplySequence<MonitorScreenReply>.Iterator
    private var screen: JSONValue?

    fileprivate init(replies: ReplySequence<MonitorScreenReply>.Iterator) {
      self.replies = replies
    }

    public mutating func next() async throws(VarlinkClientError) -> ScreenReport? {
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

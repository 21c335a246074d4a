import JSON
package import LiveSources
package import NIOCore
package import RateLimiting

/// Requests messages missed during a gap from a history service (the interface of recent-messages,
/// version 2).
///
/// The services are run by volunteers. The source therefore sends one request per gap, and limits
/// it to the expected number of messages. Belongs to one event loop.
package final class ChatHistory {
  /// The number of messages requested per second of a gap, as the operator of the known service
  /// asks.
  private static let rate = 10
  private static let longest = 800

  private let address: HTTPAddress
  private let security: PeerSecurity?
  private var fetches: [String: HTTPFetch] = [:]

  package init(_ address: HTTPAddress, security: PeerSecurity?) {
    self.address = address
    self.security = security
  }

  /// Requests the messages of a channel's gap.
  ///
  /// - Parameter completion: Called with the lines, if there are any. They may be older than the
  ///   gap.
  package func ask(
    _ channel: String, from: Instant, to: Instant, on eventLoop: any EventLoop,
    _ completion: @escaping ([[UInt8]]) -> Void
  ) {
    let seconds = Int(min((to - from).nanoseconds / 1_000_000_000 + 1, 86_400))
    let limit = min(seconds * Self.rate, Self.longest)
    let path = "/\(channel)?limit=\(limit)&after=\(SourceDelivery.wallTime(from))"
    fetches.removeValue(forKey: channel)?.cancel()
    fetches[channel] = HTTPFetch(
      HTTPRequest(.get, address.appending(path)), security: security, eventLoop: eventLoop
    ) { [self] result in
      fetches[channel] = nil
      // Errors are ignored, because the gap is already reported.
      guard let answer = try? result.get(), answer.status == 200,
        let messages = (try? JSONValue(parsing: answer.body))?["messages"]?.arrayValue
      else { return }
      // Lines that contain a line ending are dropped, because each would become two lines.
      completion(
        messages.prefix(Self.longest).compactMap(\.stringValue).map { Array($0.utf8) }
          .filter { line in !line.contains { $0 == 0x0A || $0 == 0x0D || $0 == 0 } })
    }
  }

  package func cancel() {
    for fetch in fetches.values { fetch.cancel() }
    fetches = [:]
  }
}

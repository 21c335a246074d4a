import JSON
package import LiveSources
package import NIOCore
package import RateLimiting

/// Requests messages missed during an outage from a history service with the interface of
/// recent-messages, version 2. Belongs to one event loop.
///
/// Volunteers run these services. The source therefore sends one request per outage, limited to the
/// expected number of messages.
package final class ChatHistory {
  /// The number of messages to request per second of an outage, a limit that the operator of the
  /// known service asks for.
  private static let rate = 10
  private static let longest = 800

  private let address: HTTPAddress
  private let security: PeerSecurity?
  private var fetches: [String: HTTPFetch] = [:]

  package init(_ address: HTTPAddress, security: PeerSecurity?) {
    self.address = address
    self.security = security
  }

  /// Requests the messages missed in a channel. Calls `completion` only if the service has
  /// messages, some of which may be older than the outage.
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
      // Errors are ignored, because the outage has already been reported.
      guard let answer = try? result.get(), answer.status == 200,
        let messages = (try? JSONValue(parsing: answer.body))?["messages"]?.arrayValue
      else { return }
      // A message with a line ending is dropped, because it would become two lines.
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

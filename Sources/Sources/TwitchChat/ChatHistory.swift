import JSON
package import LiveSources
package import NIOCore
package import RateLimiting

/// Asks a service (the interface of recent-messages, version 2) for what was written while a chat was not read.
///
/// The service is somebody's own: it is asked once for each gap, for no more than the gap may have had. Belongs to one
/// event loop.
package final class ChatHistory {
  /// Messages per second of a gap, as the operator of the known service asks for.
  private static let rate = 10
  private static let longest = 800

  private let address: HTTPAddress
  private let security: PeerSecurity?
  private var fetches: [String: HTTPFetch] = [:]

  package init(_ address: HTTPAddress, security: PeerSecurity?) {
    self.address = address
    self.security = security
  }

  /// - Parameter completion: is called with the lines, if there are any. They may be older than the gap.
  package func ask(
    _ channel: String, from: Instant, to: Instant, on eventLoop: any EventLoop,
    _ completion: @escaping ([[UInt8]]) -> Void
  ) {
    let seconds = Int(min((to - from).nanoseconds / 1_000_000_000 + 1, 86_400))
    let limit = min(seconds * Self.rate, Self.longest)
    let path = "/\(channel)?limit=\(limit)&after=\(Delivery.wallTime(from))"
    fetches.removeValue(forKey: channel)?.cancel()
    fetches[channel] = HTTPFetch(
      HTTPRequest(.get, address.appending(path)), security: security, eventLoop: eventLoop
    ) { [self] result in
      fetches[channel] = nil
      // Whether there is an answer or not, the gap has been told.
      guard let answer = try? result.get(), answer.status == 200,
        let messages = (try? JSONValue(parsing: answer.body))?["messages"]?.arrayValue
      else { return }
      // A message cannot contain a line end, and so become two.
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

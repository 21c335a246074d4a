/// The address at which browsers reach the page if they do not connect to this program's own port,
/// for example because a proxy is in front of it.
package struct PublicAddress: Sendable, Equatable {
  /// The address without a trailing slash.
  package let text: String
  /// The host, followed by the port unless it is the default port of the scheme.
  let host: String

  /// Fails if `text` is not `http://` or `https://` followed only by a host.
  package init?(_ text: String) {
    let text = text.hasSuffix("/") ? String(text.dropLast()) : text
    guard let scheme = ["http://", "https://"].first(where: { text.hasPrefix($0) }) else {
      return nil
    }
    let host = text.dropFirst(scheme.count)
    let other = host.utf8.contains { "/?#@ \"\\".utf8.contains($0) || $0 < 0x21 || $0 > 0x7E }
    guard !host.isEmpty, !other, host.utf8.count <= 256 else { return nil }
    (self.text, self.host) = (text, String(host))
  }
}

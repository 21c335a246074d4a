/// Where browsers reach the page, if not on the port that this program listens on.
package struct PublicAddress: Sendable, Equatable {
  /// Without a slash at the end.
  package let text: String
  /// With the port, if it is not the scheme's.
  let host: String

  /// `nil` if `text` is not `http://` or `https://` with a name and nothing behind it.
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

import JSON

/// The links that the program prints: the page for the host, and an overlay.
package struct PageLinks: Sendable, Equatable {
  package let page: String
  package let overlay: String

  package init(base: String, _ tokens: Tokens) {
    page = "\(base)/#t=\(tokens.acting)"
    overlay = "\(base)/overlay/chat?room=main&t=\(tokens.reading)"
  }

  /// Reads the links from the contents of a file, which are JSON or two lines of text.
  package init?(_ text: String) {
    if let value = try? JSONValue(parsing: text) {
      guard let page = value["page"]?.stringValue, let overlay = value["overlay"]?.stringValue
      else { return nil }
      (self.page, self.overlay) = (page, overlay)
    } else {
      let lines = text.split(separator: "\n")
      guard lines.count == 2, lines[0].hasPrefix("http"), lines[1].hasPrefix(Self.label) else {
        return nil
      }
      (page, overlay) = (String(lines[0]), String(lines[1].dropFirst(Self.label.count)))
    }
  }

  /// Reads the links from the file of the service. The service's group can read this file.
  package static func ofService(
    _ path: String = "/run/livehost-web/link"
  ) throws(PrivateFileFailure) -> PageLinks {
    let bytes = try PrivateFile.read(
      path, limit: 4096, allowedMode: 0o777, remedy: "not readable")
    guard let bytes else {
      throw PrivateFileFailure(
        path,
        problem: "does not exist; is the service running? systemctl enable --now livehost-web")
    }
    guard let links = PageLinks(String(decoding: bytes, as: UTF8.self)) else {
      throw PrivateFileFailure(path, problem: "contains no links")
    }
    return links
  }

  private static let label = "for overlays, read-only: "

  /// The address of the page, without a path.
  package var base: String { String(page.prefix(while: { $0 != "#" }).dropLast()) }

  package var text: String { "\(page)\n\(Self.label)\(overlay)\n" }

  package var json: String { #"{"page":"\#(page)","overlay":"\#(overlay)"}"# + "\n" }
}

import Synchronization

/// The host names under which browsers may request the page. Callable from any thread.
package final class HostNames: Sendable {
  private let names: Set<String>
  /// The port that requests must name after a name of this machine. 0 means any port: another
  /// program listens for browsers and checks the port.
  private let port = Atomic(0)

  /// Allows the names of this machine and these additional names. If an additional name includes a
  /// port, requests must name the same port.
  package init(_ names: [String]) { self.names = Set(names.map { $0.lowercased() }) }

  /// Sets the port on which this program listens; 0 if it does not listen on a port.
  package func setPort(_ port: Int) { self.port.store(port, ordering: .relaxed) }

  private static let ownNames: Set<String> = ["localhost", "127.0.0.1", "[::1]"]

  /// Returns whether a request for `host`, which may include a port, is meant for this page.
  package func contains(_ host: String) -> Bool {
    guard host.utf8.count <= 256 else { return false }
    let host = host.lowercased()
    let (name, hostPort) = Self.split(host)
    guard hostPort?.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) ?? true else {
      return false
    }
    if names.contains(host) || names.contains(name) { return true }
    let port = port.load(ordering: .relaxed)
    return Self.ownNames.contains(name) && (port == 0 || hostPort == String(port))
  }

  private static func split(_ host: String) -> (name: String, port: String?) {
    guard let colon = host.lastIndex(of: ":"), !host[colon...].contains("]") else {
      return (host, nil)
    }
    return (String(host[..<colon]), String(host[host.index(after: colon)...]))
  }
}

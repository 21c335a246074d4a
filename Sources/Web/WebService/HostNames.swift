import Synchronization

/// The names under which the page may be asked for. May be used from any thread.
package final class HostNames: Sendable {
  private let names: Set<String>
  /// The port that must follow the names of this machine; 0 if another program listens, and knows it.
  private let port = Atomic(0)

  /// - Parameter names: further names, with a port if it has to be that one.
  package init(_ names: [String]) { self.names = Set(names.map { $0.lowercased() }) }

  /// Notes on which port this program listens; 0 if on none.
  package func note(port: Int) { self.port.store(port, ordering: .relaxed) }

  private static let ownNames: Set<String> = ["localhost", "127.0.0.1", "[::1]"]

  /// Whether a request for `host`, with its port if it names one, is for this page.
  package func contains(_ host: String) -> Bool {
    guard host.utf8.count <= 256 else { return false }
    let host = host.lowercased()
    let (name, hostPort) = Self.split(host)
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

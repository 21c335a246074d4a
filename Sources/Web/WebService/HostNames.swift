/// The names under which the page may be asked for.
struct HostNames: Sendable {
  private let names: Set<String>
  /// The port that must follow the names of this machine; `nil` if another program listens, and knows it.
  private let port: Int?

  /// - Parameter names: further names, with a port if it has to be that one.
  init(_ names: [String], port: Int?) {
    self.names = Set(names.map { $0.lowercased() })
    self.port = port
  }

  private static let ownNames: Set<String> = ["localhost", "127.0.0.1", "[::1]"]

  func contains(_ host: String) -> Bool {
    guard host.utf8.count <= 256 else { return false }
    let host = host.lowercased()
    let (name, hostPort) = Self.split(host)
    if names.contains(host) || names.contains(name) { return true }
    return Self.ownNames.contains(name) && (port == nil || hostPort == port.map(String.init))
  }

  private static func split(_ host: String) -> (name: String, port: String?) {
    guard let colon = host.lastIndex(of: ":"), !host[colon...].contains("]") else {
      return (host, nil)
    }
    return (String(host[..<colon]), String(host[host.index(after: colon)...]))
  }
}

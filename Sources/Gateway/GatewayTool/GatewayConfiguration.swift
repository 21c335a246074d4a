import Foundation
package import Gateway
import LiveSources
import RateLimiting
package import YAMLReader

/// The configuration of one node of a cluster.
package struct GatewayConfiguration: Sendable {
  package var name = Self.hostName
  /// The path of this gateway's ingest socket, to which sources write.
  package var ingest = "/run/livehost-gateway/ingest"
  /// The path of this gateway's control socket, which shows the rooms of the whole cluster.
  package var listen = "/run/livehost-gateway/io.livehost.Control"
  package var viewers = 1000
  package var daemonIngest = "/run/livehost/ingest"
  package var control = "/run/livehost/io.livehost.Control"
  /// The address at which other nodes reach this node, HOST:PORT; empty if all nodes are on this
  /// machine.
  package var address = ""
  package var certificate = ""
  package var key = ""
  package var authorities = ""
  package var servers = ["nats://127.0.0.1:4222"]
  package var replicas = 3
  package var credentials = ""
  package var natsAuthorities = ""
  package var natsCertificate = ""
  package var natsKey = ""
  package var snapshotSeconds = 60
  package var snapshotKibibytes = 1024

  package init() {}

  private static let hostName: String = {
    let name = ProcessInfo.processInfo.hostName.split(separator: ".").first.map(String.init)
    return name.flatMap { isNodeName($0) ? $0 : nil } ?? "node"
  }()

  /// Returns whether a text is a valid name of a node. The name must be usable in a NATS subject.
  static func isNodeName(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }

  var tunnelAddress: PeerAddress? {
    address.isEmpty ? nil : PeerAddress(address, defaultPort: 7443)
  }

  var identity: Tunnel.Identity? {
    [certificate, key, authorities].contains("")
      ? nil : Tunnel.Identity(certificate: certificate, key: key, authorities: authorities)
  }

  /// Opens every configured file, and loads the files of the section `tls`.
  package func checkFiles() throws(UnusableFile) {
    let files = [
      certificate, key, authorities, credentials, natsAuthorities, natsCertificate, natsKey,
    ]
    for file in files where !file.isEmpty { try UnusableFile.check(file) }
    try identity?.check()
  }

  func tunnels() -> Tunnels {
    let directory = listen.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    return Tunnels(identity: identity, directory: directory.joined(separator: "/"))
  }

  func node() -> ClusterNode.Settings {
    var settings = ClusterNode.Settings(
      node: name, address: address.isEmpty ? control : address, ingest: daemonIngest,
      control: control)
    settings.replicas = replicas
    settings.snapshotInterval = .seconds(Int64(snapshotSeconds))
    settings.snapshotBytes = snapshotKibibytes << 10
    settings.nats.servers = servers
    settings.nats.name = "livehost-gateway \(name)"
    settings.nats.credentials = credentials.isEmpty ? nil : credentials
    settings.nats.authorities = natsAuthorities.isEmpty ? nil : natsAuthorities
    settings.nats.certificate = natsCertificate.isEmpty ? nil : natsCertificate
    settings.nats.key = natsKey.isEmpty ? nil : natsKey
    return settings
  }

  package init(file: String) throws(ConfigurationError) {
    self.init()
    try read(file: file)
    try validate(file: file)
  }

  /// Reads the text of a configuration file. Its values replace the values of this configuration.
  package mutating func read(_ text: String, file: String) throws(ConfigurationError) {
    try read(text: text, file: file)
    try validate(file: file)
  }

  private func validate(file: String) throws(ConfigurationError) {
    if !address.isEmpty, certificate.isEmpty || key.isEmpty || authorities.isEmpty {
      throw ConfigurationError(
        file: file, key: "address",
        message: "needs TLS; set tls.certificate, tls.key and tls.authorities")
    }
  }
}

extension GatewayConfiguration: FileConfiguration {
  package static let program = "livehost-gateway"

  package static let keys: [FileKey<GatewayConfiguration>] = [
    .value(
      "name", "The name of this node, unique in the cluster; default: the machine's name.", \.name,
      default: "node1"
    ) { value throws(ConfigurationError) in
      let text = try value.text()
      guard isNodeName(text) else {
        throw value.problem("'\(text)' is not a valid name of a node: [A-Za-z0-9_-]{1,64}")
      }
      return text
    },
    .text(
      "ingest", "The ingest socket for sources, with the same protocol as livehostd's.", \.ingest),
    .text("listen", "The control socket that shows the rooms of all nodes.", \.listen),
    .integer(
      "viewers", "The maximum number of monitors at the same time, 1 to 10000.", \.viewers,
      in: 1...10_000),
    .text("daemon.ingest", "The ingest socket of livehostd.", \.daemonIngest),
    .text("daemon.control", "The control socket of livehostd.", \.control),
    .text(
      "address",
      "HOST:PORT at which other nodes reach livehostd through this gateway, over TLS. The gateway"
        + " listens on this port of all addresses. May be empty only if all nodes are on one"
        + " machine.", \.address),
    .text(
      "tls.certificate", "PEM file of this node's certificate, which it presents to other nodes.",
      \.certificate),
    .text("tls.key", "PEM file of the private key of tls.certificate.", \.key),
    .text(
      "tls.authorities", "PEM file of the authorities that sign other nodes' certificates.",
      \.authorities),
    .value(
      "nats.servers", "The NATS servers.", \.servers, default: "[nats://127.0.0.1:4222]"
    ) { value throws(ConfigurationError) in
      guard case .list(let elements) = value.content, !elements.isEmpty else {
        throw value.problem("expected a list of addresses, such as [nats://127.0.0.1:4222]")
      }
      var servers: [String] = []
      for element in elements { servers.append(try element.text()) }
      return servers
    },
    .integer(
      "nats.replicas",
      "The number of servers that keep the log, 1 to 5: 3, or 1 if there is a single server. Used"
        + " when the log is created.", \.replicas, in: 1...5),
    .text(
      "nats.credentials", "File with the credentials of the account, as created by nsc.",
      \.credentials),
    .text(
      "nats.authorities",
      "PEM file of the authorities that sign the servers' certificates; it enables TLS.",
      \.natsAuthorities),
    .text(
      "nats.certificate", "PEM file of the certificate that this node presents to the servers.",
      \.natsCertificate),
    .text("nats.key", "PEM file of the private key of nats.certificate.", \.natsKey),
    .integer(
      "snapshots.seconds",
      "The number of seconds after which changes of a room are stored in a snapshot and the log"
        + " is cut, 1 to 86400.", \.snapshotSeconds, in: 1...86_400),
    .integer(
      "snapshots.kibibytes",
      "The number of KiB of a room's log after which a snapshot is stored, 16 to 1048576.",
      \.snapshotKibibytes, in: 16...1_048_576),
  ]
}

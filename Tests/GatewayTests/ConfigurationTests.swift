import Gateway
import GatewayTool
import Testing
import YAMLReader

@Suite struct GatewayConfigurationTests {
  @Test func `every key of the gateway is documented, and its default can be read`() throws {
    let text = GatewayConfiguration.commentedDefaults
    for key in GatewayConfiguration.keys {
      #expect(key.summary.hasSuffix("."))
      #expect(text.contains("# \(key.summary)"))
      let parts = key.path.split(separator: ".")
      var configuration = GatewayConfiguration()
      let line =
        parts.count == 1
        ? "\(key.path): \(key.defaultValue)" : "\(parts[0]):\n  \(parts[1]): \(key.defaultValue)"
      try configuration.read(line, file: "f")
    }
  }

  @Test func `the gateway's default file can be read with all keys uncommented`() throws {
    let lines = GatewayConfiguration.commentedDefaults.split(separator: "\n").dropFirst()
    let text = lines.map { String($0.dropFirst()) }.joined(separator: "\n")
    var (configuration, expected) = (GatewayConfiguration(), GatewayConfiguration())
    try configuration.read(text, file: "f")
    // The default of this key alone depends on the machine.
    expected.name = "node1"
    #expect("\(configuration)" == "\(expected)")
  }

  @Test(arguments: [
    "tls: {certificate: /none}", "tls: {key: /none}", "tls: {authorities: /none}",
    "nats: {credentials: /none}", "nats: {authorities: /none}", "nats: {certificate: /none}",
    "nats: {key: /none}",
  ])
  func `a file that the gateway's configuration names must exist`(text: String) throws {
    var configuration = GatewayConfiguration()
    try configuration.checkFiles()
    try configuration.read(text, file: "f")
    #expect(throws: UnusableFile(path: "/none", reason: "No such file or directory")) {
      try configuration.checkFiles()
    }
  }

  @Test func `each configuration key of the gateway changes the setting of its name`() throws {
    let others = [
      "name": "node9", "ingest": "/i", "listen": "/l", "viewers": "7", "daemon.ingest": "/di",
      "daemon.control": "/dc", "tls.certificate": "/c", "tls.key": "/k", "tls.authorities": "/a",
      "nats.servers": "[nats://a:1, nats://b:2]", "nats.replicas": "1", "nats.credentials": "/cr",
      "nats.authorities": "/na", "nats.certificate": "/nc", "nats.key": "/nk",
      "snapshots.seconds": "5",
      "snapshots.kibibytes": "64",
    ]
    // The address also needs the TLS keys.
    #expect(Set(others.keys).union(["address"]) == Set(GatewayConfiguration.keys.map(\.path)))
    for (path, value) in others {
      let parts = path.split(separator: ".")
      var configuration = GatewayConfiguration()
      let before = "\(configuration)"
      try configuration.read(
        parts.count == 1 ? "\(path): \(value)" : "\(parts[0]):\n  \(parts[1]): \(value)", file: "f")
      #expect("\(configuration)" != before, "\(path)")
    }
    var configuration = GatewayConfiguration()
    try configuration.read(
      "address: h:1\ntls: {certificate: /c, key: /k, authorities: /a}", file: "f")
    #expect(configuration.address == "h:1")
  }

  @Test(arguments: [
    ("name: a b", "name"), ("nats:\n  replicas: 9", "nats.replicas"), ("nodes: 3", "nodes"),
    ("nats:\n  servers: []", "nats.servers"), ("address: h:1", "address"),
    ("viewers: 0", "viewers"), ("snapshots:\n  seconds: 0", "snapshots.seconds"),
  ])
  func `the error for an invalid value of the gateway's configuration names its key`(
    text: String, key: String
  ) {
    var configuration = GatewayConfiguration()
    let error = #expect(throws: ConfigurationError.self) {
      try configuration.read(text, file: "f")
    }
    #expect(error?.description.contains(key) == true)
  }

  @Test func `an error about an unreadable file names the file and the remedy`() {
    let error = #expect(throws: ConfigurationError.self) {
      try GatewayConfiguration(file: "/nonexistent/gateway.yaml")
    }
    #expect(error?.file == "/nonexistent/gateway.yaml")
    #expect(error?.message == "cannot be read: there is no such file; name one that exists")
    let folder = #expect(throws: ConfigurationError.self) { try GatewayConfiguration(file: "/tmp") }
    #expect(folder?.message == "cannot be read: it is a directory; name a file")
  }
}

import ControlInterface
import ControlTestSupport
import Gateway
import NIOCore
import Testing
import Varlink

@Suite(.timeLimit(.minutes(1)))
struct TunnelTests {
  private static let unknown =
    "its certificate has expired, or was not signed by a configured authority"

  @Test func `a call passes through a tunnel, whichever address of the host answers`() async throws
  {
    try await withDirectory { directory in
      let node = try TunnelCertificates(in: directory).node
      let daemon = try await startDaemon(FakeService(), at: "\(directory)/daemon")
      // If localhost also has an IPv6 address, the client tries that address first.
      for host in ["127.0.0.1", nil] {
        let near = try await Tunnel.listen(
          host: host, port: 0, identity: node, to: "\(directory)/daemon", report: { _ in })
        let far = try await Tunnel.connect(
          path: "\(directory)/far", host: "localhost", port: try #require(near.localAddress?.port),
          identity: node, report: { _ in })
        let client = try await ControlClient.connect(path: "\(directory)/far")
        #expect(try await client.listRooms().rooms.map(\.room) == ["main"])
        try await far.close()
        try await near.close()
      }
      await daemon.shutdown()
    }
  }

  @Test func `the listening end of a tunnel reports why it rejects the connecting end`()
    async throws
  {
    try await withDirectory { directory in
      let certificates = try TunnelCertificates(in: directory)
      let (lines, reported) = AsyncStream.makeStream(of: String.self)
      let near = try await Tunnel.listen(
        host: "127.0.0.1", port: 0, identity: certificates.node, to: "\(directory)/daemon",
        report: { reported.yield($0) })
      try await fail(
        from: directory, to: "localhost", try #require(near.localAddress?.port),
        certificates.stranger, report: { _ in })
      try await near.close()
      let line = await lines.first { _ in true }
      #expect(line == "127.0.0.1: \(Self.unknown)")
    }
  }

  @Test func `the connecting end of a tunnel reports why a connection fails`() async throws {
    try await withDirectory { directory in
      let certificates = try TunnelCertificates(in: directory)
      let near = try await Tunnel.listen(
        host: "127.0.0.1", port: 0, identity: certificates.node, to: "\(directory)/daemon",
        report: { _ in })
      let port = try #require(near.localAddress?.port)
      for (host, port, identity, reason) in [
        ("127.0.0.1", port, certificates.node, "its certificate is for another name or address"),
        ("localhost", port, certificates.mistaken, Self.unknown),
        ("127.0.0.1", 1, certificates.node, "Connection refused"),
      ] {
        let (lines, reported) = AsyncStream.makeStream(of: String.self)
        try await fail(from: directory, to: host, port, identity, report: { reported.yield($0) })
        let line = await lines.first { _ in true }
        #expect(line == "\(host):\(port): \(reason)")
      }
      try await near.close()
    }
  }

  /// Makes a call through a tunnel that cannot be connected.
  private func fail(
    from directory: String, to host: String, _ port: Int, _ identity: Tunnel.Identity,
    report: @escaping @Sendable (String) -> Void
  ) async throws {
    let far = try await Tunnel.connect(
      path: "\(directory)/far", host: host, port: port, identity: identity, report: report)
    await #expect(throws: VarlinkClientError.connectionClosed) {
      // The tunnel may close the connection before the client is ready, or later.
      _ = try await ControlClient.connect(path: "\(directory)/far").listRooms()
    }
    try await far.close()
  }

  @Test func `an unusable key or certificate file is named in the error, with the reason`()
    async throws
  {
    try await withDirectory { directory in
      let certificates = try TunnelCertificates(in: directory)
      let (node, stranger) = (certificates.node, certificates.stranger)
      try node.check()
      for (certificate, key, authorities, path, reason) in [
        (node.certificate, node.key, "/none", "/none", "No such file or directory"),
        (node.certificate, node.key, node.key, node.key, "contains no certificate in PEM format"),
        (
          node.certificate, node.certificate, node.authorities, node.certificate,
          "contains no private key in PEM format, or the key has a passphrase"
        ),
        (
          node.certificate, stranger.key, node.authorities, stranger.key,
          "does not belong to the certificate in \(node.certificate)"
        ),
      ] {
        let identity = Tunnel.Identity(
          certificate: certificate, key: key, authorities: authorities)
        #expect(throws: UnusableFile(path: path, reason: reason)) { try identity.check() }
      }
    }
  }
}

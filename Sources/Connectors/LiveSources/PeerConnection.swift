package import NIOCore
import NIOSSL

/// The address of a source's peer.
package struct PeerAddress: Equatable, Sendable, CustomStringConvertible {
  package var host: String
  package var port: Int

  package init(host: String, port: Int) {
    self.host = host
    self.port = port
  }

  /// Parses `HOST`, `HOST:PORT`, `[ADDRESS]` or `[ADDRESS]:PORT`. Returns `nil` for any other text.
  package init?(_ text: String, defaultPort: Int) {
    var (host, rest) = (text[...], Substring())
    if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
      host = text[text.index(after: text.startIndex)..<end]
      rest = text[text.index(after: end)...]
    } else if let colon = text.lastIndex(of: ":"), text.firstIndex(of: ":") == colon {
      (host, rest) = (text[..<colon], text[colon...])
    }
    guard !host.isEmpty, rest.isEmpty || rest.first == ":" else { return nil }
    let port = rest.isEmpty ? defaultPort : Int(rest.dropFirst()) ?? 0
    guard (1...65_535).contains(port) else { return nil }
    self.init(host: String(host), port: port)
  }

  package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// Authenticates a peer by TLS.
package struct PeerSecurity {
  private let context: NIOSSLContext

  /// Creates a TLS configuration that verifies the certificate's chain and name.
  ///
  /// - Parameter certificates: A PEM file with the certificate authorities to trust instead of the
  ///   system's.
  package init(certificates: String? = nil) throws(SourceError) {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv12
    do {
      if let certificates {
        configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(certificates))
      }
      context = try NIOSSLContext(configuration: configuration)
    } catch {
      throw .certificateFile(path: certificates ?? "the system's certificates", reason: "\(error)")
    }
  }

  /// Returns the TLS handler for a channel to `host`, which must be the channel's first handler.
  func handler(host: String) throws -> NIOSSLClientHandler {
    // TLS allows only host names in the server name extension. An IP address is not sent there, but
    // is still compared with the certificate.
    let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
    return try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : host)
  }
}

/// A connection to a source's peer, on which both sides send text. Belongs to one event loop.
package final class PeerConnection {
  private let channel = PeerChannel()
  private let events: StreamEvents

  /// Starts to connect. Calls `events.closed` exactly once, unless ``close()`` is called before.
  package init(
    to address: PeerAddress, security: PeerSecurity?, eventLoop: any EventLoop,
    events: StreamEvents
  ) {
    self.events = events
    channel.connect(
      to: address, security: security, eventLoop: eventLoop,
      configure: { [self] channel in
        try channel.pipeline.syncOperations.addHandler(
          StreamHandler(ownEvents, hasHandshake: security != nil))
      }, failed: events.closed)
  }

  private var ownEvents: StreamEvents {
    var own = StreamEvents()
    own.opened = { [self] in if !channel.isClosed { events.opened() } }
    own.received = { [self] in if !channel.isClosed { events.received($0) } }
    own.drained = { [self] in if !channel.isClosed { events.drained() } }
    own.closed = { [self] in if channel.close() { events.closed($0) } }
    return own
  }

  /// Writes text. Call this only after `events.opened`.
  package func send(_ text: String) { channel.write(ByteBuffer(string: text)) }

  /// Pauses or resumes reading. While reading is paused, TCP slows the peer down.
  package func setReading(_ isReading: Bool) { channel.setReading(isReading) }

  /// Closes the connection. No callbacks follow.
  package func close() { channel.close() }
}

import Glibc
import LiveSources
package import NIOCore
package import NIOPosix
import NIOSSL
import Platform
import UnixSockets

/// Carries a control socket to another machine over TLS, with certificates on both sides.
///
/// One end listens on a TCP port and connects to a Unix socket for each connection; the other listens on a Unix
/// socket and connects to that port. Nothing of what goes through is looked at. Either end reports why connections fail,
/// in a line with the other end's name or address, and at most one in ten seconds.
package enum Tunnel {
  static let timeout = TimeAmount.seconds(10)
  /// The most connections at a time that have not shown a certificate.
  private static let maximumStrangers = 256

  /// Listens on a TCP port for other machines, and connects each of them to the socket at `path`, once it has shown
  /// its certificate. Those that do not show one are closed.
  ///
  /// - Parameters:
  ///   - host: an address of this machine, or a name of one; nil for all of its addresses.
  ///   - report: called with lines.
  /// - Throws: ``UnusableFile`` of the identity's; `IOError` if the port cannot be used.
  package static func listen(
    host: String?, port: Int, identity: Identity, to path: String,
    report: @escaping @Sendable (String) -> Void,
    group: MultiThreadedEventLoopGroup = .singleton
  ) async throws -> any Channel {
    let context = try identity.server()
    let failures = TunnelFailures(on: group.next(), report)
    let strangers = Guarded(0)
    let bootstrap = ServerBootstrap(group: group)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.autoRead, value: false)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          guard strangers.withLock({ $0 < maximumStrangers }) else {
            failures.record(
              TunnelFailures.name(of: channel),
              "was closed, since \(maximumStrangers) others have yet to show a certificate")
            throw ChannelError.operationUnsupported
          }
          strangers.withLock { $0 += 1 }
          try channel.pipeline.syncOperations.addHandlers(
            NIOSSLServerHandler(context: context),
            TunnelHandshake(with: nil, failures) { strangers.withLock { $0 -= 1 } },
            TunnelSplice { loop in
              let connected = ClientBootstrap(group: loop)
                .channelOption(.autoRead, value: false)
                .channelInitializer { channel in
                  channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(TunnelSplice())
                  }
                }
                .connect(unixDomainSocketPath: path)
              connected.whenFailure {
                failures.record(path, TunnelFailures.reason(ofConnecting: $0))
              }
              return connected
            })
        }
      }
    // A viewer may stop reading for a while, which the kernel counts as silence.
    for (option, value) in liveness(patience: 120) {
      _ = bootstrap.childChannelOption(option, value: value)
    }
    if let host { return try await bootstrap.bind(host: host, port: port).get() }
    do {
      // This includes IPv4.
      return try await bootstrap.bind(host: "::", port: port).get()
    } catch let error as IOError where [EAFNOSUPPORT, EADDRNOTAVAIL].contains(error.errnoCode) {
      return try await bootstrap.bind(host: "0.0.0.0", port: port).get()
    }
  }

  /// Listens on a Unix socket of this user, and connects each connection to the other end.
  ///
  /// - Parameter report: called with lines.
  /// - Throws: ``UnusableFile`` of the identity's; `ListeningSocketError`.
  package static func connect(
    path: String, host: String, port: Int, identity: Identity,
    report: @escaping @Sendable (String) -> Void,
    group: MultiThreadedEventLoopGroup = .singleton
  ) async throws -> any Channel {
    let context = try identity.client()
    let failures = TunnelFailures(on: group.next(), report)
    let peer = PeerAddress(host: host, port: port).description
    let socket = try ListeningSocket.bind(path: path, mode: 0o600)
    guard let descriptor = socket.take() else { throw ChannelError.operationUnsupported }
    return try await ServerBootstrap(group: group)
      .childChannelOption(.autoRead, value: false)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(
            TunnelSplice { loop in
              let bootstrap = ClientBootstrap(group: loop)
                .channelOption(.autoRead, value: false)
                .connectTimeout(timeout)
                .channelInitializer { channel in
                  channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                      NIOSSLClientHandler(
                        context: context, serverHostname: isAddress(host) ? nil : host),
                      TunnelHandshake(with: peer, failures), TunnelSplice())
                  }
                }
              for (option, value) in liveness(patience: 10) {
                _ = bootstrap.channelOption(option, value: value)
              }
              let connected = bootstrap.connect(host: host, port: port)
              connected.whenFailure {
                failures.record(peer, TunnelFailures.reason(ofConnecting: $0))
              }
              return connected
            })
        }
      }
      .accept(on: descriptor)
  }

  /// Has the kernel end connections to machines that are gone, such as by a loss of power.
  ///
  /// - Parameter patience: seconds after which what was sent must have been acknowledged, and read as far as the other
  ///   end has room for it.
  private static func liveness(
    patience: Int
  ) -> [(option: ChannelOptions.Types.SocketOption, value: Int)] {
    [
      (.socketOption(.so_keepalive), 1),
      (.tcpOption(.init(rawValue: TCP_KEEPIDLE)), 5),
      (.tcpOption(.init(rawValue: TCP_KEEPINTVL)), 2),
      (.tcpOption(.init(rawValue: TCP_KEEPCNT)), 3),
      (.tcpOption(.init(rawValue: TCP_USER_TIMEOUT)), patience * 1000),
    ]
  }

  private static func isAddress(_ host: String) -> Bool {
    (try? SocketAddress(ipAddress: host, port: 0)) != nil
  }
}

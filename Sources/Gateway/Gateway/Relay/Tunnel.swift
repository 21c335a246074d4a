import Glibc
import LiveSources
import Locking
package import NIOCore
package import NIOPosix
import NIOSSL
import SystemSupport
import UnixSockets

/// Connects to a control socket on another machine over TLS, with certificates on both sides.
///
/// One end of the tunnel listens on a TCP port, and opens a connection to a Unix socket for each
/// TCP connection. The other end listens on a Unix socket, and opens connections to that port. Each
/// end reports why connections fail, and the name or address of the other end. It reports at most
/// one line per ten seconds.
package enum Tunnel {
  static let timeout = TimeAmount.seconds(10)
  /// The maximum number of connections that have not presented a certificate yet.
  private static let maximumStrangers = 256

  /// Listens on a TCP port for other machines. If a machine presents a valid certificate, connects
  /// it to the socket at `path`; otherwise closes its connection.
  ///
  /// - Parameters:
  ///   - host: an address of this machine, or a name that resolves to one; `nil` means all of its
  ///     addresses.
  ///   - report: called with lines for the journal.
  /// - Throws: ``UnusableFile`` for a file of the identity; `IOError` if the port cannot be used.
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
              "was closed, because \(maximumStrangers) other connections have not presented a certificate yet"
            )
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
    // The kernel cannot distinguish a viewer that has stopped reading from a machine that is gone.
    // The limit is long, because a viewer may stop reading for a while.
    for (option, value) in liveness(patience: 120) {
      _ = bootstrap.childChannelOption(option, value: value)
    }
    if let host { return try await bootstrap.bind(host: host, port: port).get() }
    do {
      // The address `::` also accepts IPv4.
      return try await bootstrap.bind(host: "::", port: port).get()
    } catch let error as IOError where [EAFNOSUPPORT, EADDRNOTAVAIL].contains(error.errnoCode) {
      return try await bootstrap.bind(host: "0.0.0.0", port: port).get()
    }
  }

  /// Listens on a Unix socket of this user, and forwards each connection to the other end.
  ///
  /// - Parameter report: called with lines for the journal.
  /// - Throws: ``UnusableFile`` for a file of the identity; `ListeningSocketError`.
  package static func connect(
    path: String, host: String, port: Int, identity: Identity,
    report: @escaping @Sendable (String) -> Void,
    group: MultiThreadedEventLoopGroup = .singleton
  ) async throws -> any Channel {
    let context = try identity.client()
    let failures = TunnelFailures(on: group.next(), report)
    let peer = PeerAddress(host: host, port: port).description
    let socket = try ListeningSocket.bind(path: path, mode: 0o600)
    guard let descriptor = socket.removeDescriptor() else {
      throw ChannelError.operationUnsupported
    }
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

  /// Returns socket options with which the kernel ends connections to machines that are gone, for
  /// example after a power failure. The other end must acknowledge sent bytes within `patience`
  /// seconds, and make room for waiting bytes within the same time.
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

package import NIOCore
package import NIOPosix
import NIOSSL
import NIOTLS
import Platform
import UnixSockets

/// Carries a control socket to another machine over TLS, with certificates on both sides.
///
/// One end listens on a TCP port and connects to a Unix socket for each connection; the other listens on a Unix
/// socket and connects to that port. Nothing of what goes through is looked at.
package enum Tunnel {
  /// The certificates of one end.
  package struct Identity: Sendable {
    /// PEM files: the own chain, its key, and the authorities that the other end's must come from.
    package var certificate: String
    package var key: String
    package var authorities: String

    package init(certificate: String, key: String, authorities: String) {
      (self.certificate, self.key, self.authorities) = (certificate, key, authorities)
    }

    fileprivate func client() throws -> NIOSSLContext {
      try NIOSSLContext(configuration: completed(.makeClientConfiguration()))
    }

    fileprivate func server() throws -> NIOSSLContext {
      var configuration = TLSConfiguration.makeServerConfiguration(
        certificateChain: [], privateKey: .privateKey(try .init(file: key, format: .pem)))
      // The other end is a program, not a name: what its authority has signed may come in.
      configuration.certificateVerification = .noHostnameVerification
      return try NIOSSLContext(configuration: completed(configuration))
    }

    private func completed(_ configuration: TLSConfiguration) throws -> TLSConfiguration {
      var configuration = configuration
      configuration.certificateChain = try NIOSSLCertificate.fromPEMFile(certificate).map {
        .certificate($0)
      }
      configuration.privateKey = .privateKey(try .init(file: key, format: .pem))
      configuration.trustRoots = .file(authorities)
      configuration.minimumTLSVersion = .tlsv12
      return configuration
    }
  }

  fileprivate static let timeout = TimeAmount.seconds(10)
  /// The most connections at a time that have not shown a certificate.
  private static let maximumStrangers = 256

  /// Listens on a TCP port for other machines, and connects each of them to the socket at `path`, once it has shown
  /// its certificate. Those that do not show one are closed.
  package static func listen(
    host: String, port: Int, identity: Identity, to path: String,
    group: MultiThreadedEventLoopGroup = .singleton
  ) async throws -> any Channel {
    let context = try identity.server()
    let strangers = Guarded(0)
    return try await ServerBootstrap(group: group)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.autoRead, value: false)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          guard strangers.withLock({ $0 < maximumStrangers }) else {
            throw ChannelError.operationUnsupported
          }
          strangers.withLock { $0 += 1 }
          try channel.pipeline.syncOperations.addHandlers(
            NIOSSLServerHandler(context: context),
            Handshake { strangers.withLock { $0 -= 1 } },
            Splice { loop, inner in
              ClientBootstrap(group: loop).channelOption(.autoRead, value: false)
                .channelInitializer(inner).connect(unixDomainSocketPath: path)
            })
        }
      }
      .bind(host: host, port: port).get()
  }

  /// Listens on a Unix socket of this user, and connects each connection to the other end.
  package static func connect(
    path: String, host: String, port: Int, identity: Identity,
    group: MultiThreadedEventLoopGroup = .singleton
  ) async throws -> any Channel {
    let context = try identity.client()
    let socket = try ListeningSocket.bind(path: path, mode: 0o600)
    guard let descriptor = socket.take() else { throw ChannelError.operationUnsupported }
    return try await ServerBootstrap(group: group)
      .childChannelOption(.autoRead, value: false)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(
            Splice { loop, inner in
              ClientBootstrap(group: loop).channelOption(.autoRead, value: false)
                .connectTimeout(timeout)
                .channelInitializer { channel in
                  channel.eventLoop.makeCompletedFuture {
                    let handler = try NIOSSLClientHandler(
                      context: context, serverHostname: isAddress(host) ? nil : host)
                    try channel.pipeline.syncOperations.addHandler(handler)
                  }.flatMap { inner(channel) }
                }.connect(host: host, port: port)
            })
        }
      }
      .withBoundSocket(descriptor).get()
  }

  private static func isAddress(_ host: String) -> Bool {
    (try? SocketAddress(ipAddress: host, port: 0)) != nil
  }
}

/// Hides a connection from the handlers behind it until the other end has shown its certificate, for which it has some
/// seconds.
private final class Handshake: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer

  private let ended: () -> Void
  private var deadline: Scheduled<Void>?
  private var isOver = false

  /// - Parameter ended: called once, when it has succeeded or failed.
  init(_ ended: @escaping () -> Void) { self.ended = ended }

  private func end() {
    if !isOver { ended() }
    isOver = true
    deadline?.cancel()
  }

  func channelActive(context: ChannelHandlerContext) {
    deadline = context.eventLoop.assumeIsolated().scheduleTask(in: Tunnel.timeout) {
      context.close(promise: nil)
    }
    // Until something was decrypted, the handler of TLS reads on by itself.
    context.read()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .handshakeCompleted? = event as? TLSUserEvent, !isOver {
      end()
      context.fireChannelActive()
    }
    context.fireUserInboundEventTriggered(event)
  }

  func channelInactive(context: ChannelHandlerContext) {
    end()
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) { end() }
}

/// One side of two connections whose bytes are each other's. Each is read only as far as the other is written.
private final class Splice: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  typealias Connect = (
    any EventLoop, @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
  ) -> EventLoopFuture<any Channel>

  private let connect: Connect?
  private var partner: Splice?
  private var context: ChannelHandlerContext?
  private var wantsRead = false
  /// What came before the other side was there; no more than one read.
  private var early: [ByteBuffer]? = []

  init(_ connect: Connect? = nil) { self.connect = connect }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  /// Not before: a channel that is not registered forgets that it is to be read.
  func channelActive(context: ChannelHandlerContext) {
    guard let connect, partner == nil else { return }
    let loop = context.eventLoop
    let other = Splice()
    let bound = NIOLoopBound(other, eventLoop: loop)
    partner = other
    other.partner = self
    let channel = context.channel
    connect(loop) { inner in
      inner.eventLoop.makeCompletedFuture {
        try inner.pipeline.syncOperations.addHandler(bound.value)
      }
    }.assumeIsolated().whenComplete { result in
      switch result {
      case .success:
        for buffer in self.early ?? [] {
          other.context?.write(self.wrapOutboundOut(buffer), promise: nil)
        }
        self.early = nil
        other.early = nil
        other.context?.flush()
        channel.read()
        other.context?.channel.read()
      case .failure: channel.close(promise: nil)
      }
    }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    partner?.partner = nil
    partner = nil
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if early != nil {
      early?.append(unwrapInboundIn(data))
    } else {
      partner?.context?.write(wrapOutboundOut(unwrapInboundIn(data)), promise: nil)
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    if early != nil { return }
    guard let other = partner?.context else { return context.close(promise: nil) }
    other.flush()
    if other.channel.isWritable { context.read() } else { wantsRead = true }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    guard context.channel.isWritable, let partner, partner.wantsRead else { return }
    partner.wantsRead = false
    partner.context?.read()
  }

  func channelInactive(context: ChannelHandlerContext) { partner?.context?.close(promise: nil) }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

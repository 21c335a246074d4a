import NIOCore
import NIOSSL
import NIOTLS

/// Hides a connection from later handlers until the other end has presented its certificate. The
/// other end has ten seconds to do so. Reports why TLS fails.
final class TunnelHandshake: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let peer: String?
  private let failures: TunnelFailures
  private let ended: () -> Void
  private var deadline: Scheduled<Void>?
  private var isOver = false
  private var isRecorded = false

  /// - Parameters:
  ///   - peer: the other end's name if this end opened the connection; `nil` if the other end
  ///     opened it.
  ///   - ended: called once, when the handshake has succeeded or failed.
  init(with peer: String?, _ failures: TunnelFailures, ended: @escaping () -> Void = {}) {
    (self.peer, self.failures, self.ended) = (peer, failures, ended)
  }

  private func end() {
    if !isOver { ended() }
    isOver = true
    deadline?.cancel()
  }

  /// Records only the first reason, because later failures are consequences of the first one.
  private func record(_ reason: String, _ context: ChannelHandlerContext) {
    if !isRecorded { failures.record(peer ?? TunnelFailures.name(of: context.channel), reason) }
    isRecorded = true
  }

  func channelActive(context: ChannelHandlerContext) {
    deadline = context.eventLoop.assumeIsolated().scheduleTask(in: Tunnel.timeout) {
      self.record("did not present a certificate within 10 s", context)
      context.close(promise: nil)
    }
    // One call is enough: the TLS handler then continues to read until it has decrypted something.
    context.read()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .handshakeCompleted? = event as? TLSUserEvent, !isOver {
      end()
      context.fireChannelActive()
    }
    context.fireUserInboundEventTriggered(event)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if error as? NIOSSLError == .handshakeFailed(.sslError([.eofDuringHandshake])) {
      // A disconnection by a stranger is not worth a report. But if this end opened the connection,
      // the other end should have answered.
      if peer != nil {
        record("closed the connection instead of presenting a certificate", context)
      }
    } else if let reason = TunnelFailures.reason(ofTLS: error) {
      record(reason, context)
    }
    context.fireErrorCaught(error)
  }

  func channelInactive(context: ChannelHandlerContext) {
    end()
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) { end() }
}

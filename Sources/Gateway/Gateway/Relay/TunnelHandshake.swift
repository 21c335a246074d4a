import NIOCore
import NIOSSL
import NIOTLS

/// Hides a connection from later handlers until the other end has presented its certificate, for
/// which it has ten seconds. Reports why TLS fails.
final class TunnelHandshake: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let peer: String?
  private let failures: TunnelFailures
  private let ended: () -> Void
  private var deadline: Scheduled<Void>?
  private var isOver = false
  private var isRecorded = false

  /// - Parameters:
  ///   - peer: the other end's name if this end opened the connection; otherwise `nil`.
  ///   - ended: called once, when the handshake has succeeded or failed.
  init(with peer: String?, _ failures: TunnelFailures, ended: @escaping () -> Void = {}) {
    (self.peer, self.failures, self.ended) = (peer, failures, ended)
  }

  private func end() {
    if !isOver { ended() }
    isOver = true
    deadline?.cancel()
  }

  /// Records only the first reason, because the end of the connection causes others.
  private func record(_ reason: String, _ context: ChannelHandlerContext) {
    if !isRecorded { failures.record(peer ?? TunnelFailures.name(of: context.channel), reason) }
    isRecorded = true
  }

  func channelActive(context: ChannelHandlerContext) {
    deadline = context.eventLoop.assumeIsolated().scheduleTask(in: Tunnel.timeout) {
      self.record("did not present a certificate within 10 s", context)
      context.close(promise: nil)
    }
    // After this read, the TLS handler continues to read until it has decrypted something.
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
      // A stranger may disconnect at any time, but an end that this end connects to should answer.
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

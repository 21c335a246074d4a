import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS

/// What happens on a connection, as calls on its event loop.
package struct StreamEvents {
  package var opened: () -> Void = {}
  package var received: (UnsafeRawBufferPointer) -> Void = { _ in }
  /// Everything that was there has been received.
  package var drained: () -> Void = {}
  package var becameWritable: () -> Void = {}
  /// It is closed, with the reason for people. Comes once, also if it was never opened.
  package var closed: (String) -> Void = { _ in }

  package init() {}
}

/// Passes what happens on a channel to ``StreamEvents``.
final class StreamHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let events: StreamEvents
  private let hasHandshake: Bool
  private var hasOpened = false
  private var error: (any Error)?

  init(_ events: StreamEvents, hasHandshake: Bool) {
    self.events = events
    self.hasHandshake = hasHandshake
  }

  func channelActive(context: ChannelHandlerContext) {
    if !hasHandshake { open() }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .handshakeCompleted? = event as? TLSUserEvent { open() }
  }

  private func open() {
    guard !hasOpened else { return }
    hasOpened = true
    events.opened()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    unwrapInboundIn(data).withUnsafeReadableBytes(events.received)
  }

  func channelReadComplete(context: ChannelHandlerContext) { events.drained() }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable { events.becameWritable() }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // The first error is the cause of the others. A peer that leaves without a TLS goodbye has left.
    if case NIOSSLError.uncleanShutdown = error {} else { self.error = self.error ?? error }
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    events.closed(error.map(ConnectionFailure.text) ?? "the connection was closed")
  }
}

/// Why a connection failed, for people.
package enum ConnectionFailure {
  package static func text(_ error: any Error) -> String {
    switch error {
    case let error as NIOConnectionError:
      if let inner = error.connectionErrors.first { return text(inner.error) }
      if error.dnsAAAAError != nil || error.dnsAError != nil {
        return "there is no address of \(error.host)"
      }
      return "no connection"
    case let error as IOError: return SystemText.error(error.errnoCode)
    case ChannelError.connectTimeout: return "no connection in time"
    case NIOSSLError.handshakeFailed(let inner): return "TLS: \(inner)"
    case let error as NIOSSLExtraError where error == .failedToValidateHostname:
      return "TLS: the certificate is for another name"
    default: return "\(error)"
    }
  }
}

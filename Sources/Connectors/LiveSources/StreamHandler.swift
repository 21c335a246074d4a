import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS

/// The callbacks of a connection, on its event loop.
package struct StreamEvents {
  package var opened: () -> Void = {}
  package var received: (UnsafeRawBufferPointer) -> Void = { _ in }
  /// Called when all data that is available for now has been passed to `received`.
  package var drained: () -> Void = {}
  package var becameWritable: () -> Void = {}
  /// Called exactly once, with a human-readable reason, when the connection closes or cannot be
  /// opened.
  package var closed: (String) -> Void = { _ in }

  package init() {}
}

/// Passes the events of a channel to ``StreamEvents``.
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
    // Later errors are consequences of the first. A missing TLS closing message is not an error.
    if case NIOSSLError.uncleanShutdown = error {} else { self.error = self.error ?? error }
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    events.closed(error.map(ConnectionFailure.text) ?? "the connection was closed")
  }
}

/// Describes in human-readable form why a connection failed.
package enum ConnectionFailure {
  package static func text(_ error: any Error) -> String {
    switch error {
    case let error as NIOConnectionError:
      if let inner = error.connectionErrors.first { return text(inner.error) }
      if error.dnsAAAAError != nil || error.dnsAError != nil {
        return "no address found for \(error.host)"
      }
      return "the connection failed"
    case let error as IOError: return SystemText.error(error.errnoCode)
    case ChannelError.connectTimeout: return "the connection timed out"
    case NIOSSLError.handshakeFailed(let inner): return "TLS: \(inner)"
    case let error as NIOSSLExtraError where error == .failedToValidateHostname:
      return "TLS: the certificate is for another name"
    default: return "\(error)"
    }
  }
}

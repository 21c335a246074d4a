package import NIOCore

/// A reservation for one of a server's connections, which ends when the slot is released.
package final class ConnectionSlot: Sendable {
  /// Processes the input left by a sender that disconnected, without waiting for the sink.
  package typealias RestProcessing = @Sendable () -> EventLoopFuture<Void>

  /// Registers the remaining input of a sender that disconnected.
  let leave: @Sendable (@escaping RestProcessing) -> Void
  private let free: @Sendable () -> Void

  package init(
    leave: @escaping @Sendable (@escaping RestProcessing) -> Void = { _ in },
    free: @escaping @Sendable () -> Void
  ) {
    self.leave = leave
    self.free = free
  }

  deinit { free() }
}

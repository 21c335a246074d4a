package import NIOCore

/// A reservation for one of a server's connections, which ends when the slot is released.
package final class ConnectionSlot: Sendable {
  /// Processes the input left by a sender that disconnected, without waiting for the sink.
  package typealias Rest = @Sendable () -> EventLoopFuture<Void>

  /// Registers the remaining input of a sender that disconnected.
  let leave: @Sendable (@escaping Rest) -> Void
  private let free: @Sendable () -> Void

  package init(
    leave: @escaping @Sendable (@escaping Rest) -> Void = { _ in },
    free: @escaping @Sendable () -> Void
  ) {
    self.leave = leave
    self.free = free
  }

  deinit { free() }
}

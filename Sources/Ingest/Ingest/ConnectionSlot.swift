package import NIOCore

/// One of the connections that a server may have; free again when it is released.
package final class ConnectionSlot: Sendable {
  /// Takes at once what a sender that has gone left behind.
  package typealias Rest = @Sendable () -> EventLoopFuture<Void>

  /// Called when the sender has gone and has left something behind.
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

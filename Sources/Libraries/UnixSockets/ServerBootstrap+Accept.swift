import Glibc
package import NIOCore
package import NIOPosix

extension ServerBootstrap {
  /// Accepts the connections of a bound, listening socket. Takes ownership of the descriptor.
  ///
  /// `ServerBootstrap.withBoundSocket` sets the queue of a socket to 128 connections and ignores
  /// the option `backlog`, which is used only by `bind`. This method therefore sets the queue to
  /// ``ListeningSocket/backlog``. If the kernel can, it refuses descriptors that clients pass; see
  /// ``PassedDescriptors``.
  package func accept(on descriptor: Int32) async throws -> any Channel {
    PassedDescriptors.refuse(on: descriptor)
    let channel = try await withBoundSocket(descriptor).get()
    _ = listen(descriptor, ListeningSocket.backlog)
    return channel
  }
}

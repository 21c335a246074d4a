import Glibc
package import NIOCore
package import NIOPosix

extension ServerBootstrap {
  /// Accepts the connections of a socket that is bound and listens. Takes the descriptor over.
  ///
  /// `ServerBootstrap.withBoundSocket` makes the queue of a socket 128 connections long, whatever the option `backlog`
  /// says, which is looked at only by `bind`. Afterwards the queue has the length of ``ListeningSocket/backlog``.
  /// Where the kernel can, it refuses descriptors that clients pass; see ``PassedDescriptors``.
  package func accept(on descriptor: Int32) async throws -> any Channel {
    PassedDescriptors.refuse(on: descriptor)
    let channel = try await withBoundSocket(descriptor).get()
    _ = listen(descriptor, ListeningSocket.backlog)
    return channel
  }
}

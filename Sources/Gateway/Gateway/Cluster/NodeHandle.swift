package import NIOCore

/// Access to a node for other threads and for tasks.
package struct NodeHandle: Sendable {
  private let node: NIOLoopBound<ClusterNode>
  package let loop: any EventLoop

  package init(_ node: NIOLoopBound<ClusterNode>, on loop: any EventLoop) {
    (self.node, self.loop) = (node, loop)
  }

  /// Schedules `body` on the node's event loop.
  package func perform(_ body: @escaping @Sendable (ClusterNode) -> Void) {
    loop.execute { body(node.value) }
  }

  /// Runs `body` on the node's event loop and returns its result.
  package func get<R: Sendable>(
    _ body: @escaping @Sendable (ClusterNode) throws -> R
  ) async throws -> R {
    try await loop.submit { try body(node.value) }.get()
  }
}

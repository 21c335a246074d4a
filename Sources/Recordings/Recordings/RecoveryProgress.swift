import Synchronization

/// The number of bytes that a recovery still has to read. May be read from any thread.
final class RecoveryProgress: Sendable {
  private let left = Atomic<Int>(0)
  private let onRead: @Sendable (Int) -> Void

  /// - Parameter onRead: called on the writer's thread after each read, with the number of bytes
  ///   read.
  init(onRead: @escaping @Sendable (Int) -> Void = { _ in }) { self.onRead = onRead }

  var bytesLeft: Int { left.load(ordering: .relaxed) }

  func begin(bytes: Int) { left.store(bytes, ordering: .relaxed) }

  func subtract(read bytes: Int) {
    left.wrappingSubtract(min(bytes, bytesLeft), ordering: .relaxed)
    onRead(bytes)
  }
}

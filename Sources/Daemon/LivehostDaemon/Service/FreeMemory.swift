import Glibc

/// Memory that was freed, and that the allocator still holds.
enum FreeMemory {
  /// glibc's `malloc_trim`, which its module does not declare.
  private static let trim = dlsym(nil, "malloc_trim").map {
    unsafeBitCast($0, to: (@convention(c) @Sendable (_ kept: Int) -> CInt).self)
  }

  /// Gives it back to the system. Whoever allocates meanwhile may have to wait.
  ///
  /// - Complexity: O(memory that is free).
  @Sendable static func giveBack() { _ = trim?(0) }
}

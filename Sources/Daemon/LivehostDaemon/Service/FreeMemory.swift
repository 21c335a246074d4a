import Glibc

/// Memory that was freed, and that the allocator still holds.
package enum FreeMemory {
  /// glibc's `malloc_trim`, which its module does not declare.
  private static let trim = dlsym(nil, "malloc_trim").map {
    unsafeBitCast($0, to: (@convention(c) @Sendable (_ kept: Int) -> CInt).self)
  }

  /// Gives it back to the system. Whoever allocates meanwhile may have to wait.
  ///
  /// - Complexity: O(memory that is free).
  @Sendable static func giveBack() { _ = trim?(0) }

  /// Lets the allocator hold at most a mebibyte at the end of each thread's memory, where ``giveBack()`` does not look.
  ///
  /// Unless it is told (mallopt(3)), glibc raises this limit to twice the largest block that was freed, up to 64 MiB:
  /// ten thousand rooms that are packed leave more there than they take.
  package static func limit() {
    guard
      let set = dlsym(nil, "mallopt").map({
        unsafeBitCast($0, to: (@convention(c) (_ parameter: CInt, _ value: CInt) -> CInt).self)
      })
    else { return }
    // M_TRIM_THRESHOLD, and M_MMAP_THRESHOLD, which would stay at its initial 128 KiB then: blocks of that size come
    // and go with every batch, and each would be mapped anew.
    for parameter: CInt in [-1, -3] { _ = set(parameter, 1 << 20) }
  }
}

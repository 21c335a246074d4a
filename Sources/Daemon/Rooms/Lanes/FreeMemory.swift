import Glibc

/// Freed memory that the allocator has not returned to the system.
package enum FreeMemory {
  /// glibc's `malloc_trim`, which the `Glibc` module does not declare.
  private static let trim = dlsym(nil, "malloc_trim").map {
    unsafeBitCast($0, to: (@convention(c) @Sendable (_ kept: Int) -> CInt).self)
  }

  /// Returns the free memory to the system, in O(*n*) for the amount of free memory. Threads that
  /// allocate during the call may have to wait.
  @Sendable package static func returnToSystem() { _ = trim?(0) }

  /// Limits the free memory at the end of each thread's heap to 1 MiB, because ``giveBack()`` does
  /// not release memory there.
  ///
  /// Without an explicit limit (mallopt(3)), glibc raises the limit to twice the largest block that
  /// was freed, up to 64 MiB. Ten thousand hibernated rooms would then leave more free memory there
  /// than they use.
  package static func limit() {
    guard
      let set = dlsym(nil, "mallopt").map({
        unsafeBitCast($0, to: (@convention(c) (_ parameter: CInt, _ value: CInt) -> CInt).self)
      })
    else { return }
    // Sets M_TRIM_THRESHOLD and M_MMAP_THRESHOLD. Setting only M_TRIM_THRESHOLD would fix
    // M_MMAP_THRESHOLD at its initial 128 KiB. Every batch allocates and frees blocks of that size,
    // and each of them would then need a new mapping.
    for parameter: CInt in [-1, -3] { _ = set(parameter, 1 << 20) }
  }
}

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Measures how long a piece of the simulated code really takes.
///
/// Monotonic time, since it is read in 30 ns; the processor time of the thread needs a system call, ten times as long.
/// Noise only adds, and pieces of microseconds are rarely interrupted. Once pieces take longer than
/// ``heavy``, both clocks are read and the shorter time of those counts, which leaves out the time of other threads.
struct WorkClock {
  /// Nanoseconds from which on the thread is often interrupted on a busy machine.
  private static let heavy: UInt64 = 100_000
  /// For how many pieces after a long one both clocks are read.
  private static let remembered = 64

  private var start: UInt64 = 0
  private var processorStart: UInt64?
  private var heavyLeft = 0
  private let readsBoth: Bool

  /// - Parameter readsBoth: whether both clocks are always read, for pieces that are few.
  init(readsBoth: Bool = false) { self.readsBoth = readsBoth }

  mutating func begin() {
    processorStart = readsBoth || heavyLeft > 0 ? Self.read(CLOCK_THREAD_CPUTIME_ID) : nil
    start = Self.read(CLOCK_MONOTONIC)
  }

  /// Nanoseconds since the beginning.
  mutating func end() -> Int64 {
    var elapsed = Self.read(CLOCK_MONOTONIC) &- start
    heavyLeft = elapsed > Self.heavy ? Self.remembered : max(0, heavyLeft - 1)
    // What was over sooner was not interrupted.
    if let processorStart, readsBoth || elapsed > Self.heavy {
      elapsed = min(elapsed, Self.read(CLOCK_THREAD_CPUTIME_ID) &- processorStart)
    }
    return Int64(clamping: elapsed)
  }

  private static func read(_ clock: clockid_t) -> UInt64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}

/// Which real work a run measures.
enum Measuring: Sendable {
  case nothing
  /// Enough of it to find what grows.
  case growth
  /// All of it: it replaces the costs of the device.
  case costs
}

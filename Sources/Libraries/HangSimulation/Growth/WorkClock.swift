#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Measures the real duration of a piece of the simulated code.
///
/// Uses monotonic time, which is read in 30 ns. The processor time of the thread needs a system
/// call, which takes ten times as long. Noise can only add time, and pieces of microseconds are
/// rarely interrupted. After a piece longer than ``heavy``, both clocks are read, and the shorter
/// time counts, which excludes the time of other threads.
struct WorkClock {
  /// The length, in nanoseconds, above which a piece is often interrupted on a busy machine.
  private static let heavy: UInt64 = 100_000
  /// The number of pieces after a long one for which both clocks are read.
  private static let remembered = 64

  private var start: UInt64 = 0
  private var processorStart: UInt64?
  private var heavyLeft = 0
  private let readsBoth: Bool

  /// - Parameter readsBoth: Whether both clocks are always read. Use it for rare pieces.
  init(readsBoth: Bool = false) { self.readsBoth = readsBoth }

  mutating func begin() {
    processorStart = readsBoth || heavyLeft > 0 ? Self.read(CLOCK_THREAD_CPUTIME_ID) : nil
    start = Self.read(CLOCK_MONOTONIC)
  }

  /// Returns the nanoseconds since the start of the piece.
  mutating func end() -> Int64 {
    var elapsed = Self.read(CLOCK_MONOTONIC) &- start
    heavyLeft = elapsed > Self.heavy ? Self.remembered : max(0, heavyLeft - 1)
    // A shorter piece was not interrupted.
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

/// The extent of the measurements in a run.
enum Measuring: Sendable {
  case nothing
  /// Measures enough work to detect growth.
  case growth
  /// Measures all work, which replaces the costs of the device.
  case costs
}

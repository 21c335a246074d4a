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
/// call, which takes ten to thirty times as long. Noise can only add time, and a piece that takes
/// only microseconds is rarely interrupted. For a piece longer than ``heavy``, the thread's
/// processor time is used if it is shorter, because it excludes the time of other threads.
///
/// The processor time is read before a piece only if the last reading is older than ``heavy``. The
/// duration of an interrupted piece may therefore include up to that much of the preceding work.
struct WorkClock {
  /// The length, in nanoseconds, above which a piece is often interrupted on a busy machine.
  private static let heavy: UInt64 = 100_000

  private var start: UInt64 = 0
  /// The last reading of both clocks, and the thread that read them.
  private var reading: (thread: pthread_t, time: UInt64, processor: UInt64)?

  mutating func begin() {
    start = Self.read(CLOCK_MONOTONIC)
    // A run may continue on another thread after each slice.
    if let reading, start &- reading.time < Self.heavy, reading.thread == pthread_self() { return }
    let processor = Self.read(CLOCK_THREAD_CPUTIME_ID)
    start = Self.read(CLOCK_MONOTONIC)
    reading = (pthread_self(), start, processor)
  }

  /// Returns the nanoseconds since the start of the piece, which must have begun on the same
  /// thread.
  mutating func end() -> Int64 {
    let now = Self.read(CLOCK_MONOTONIC)
    let elapsed = now &- start
    // A shorter piece counts as not interrupted.
    guard elapsed > Self.heavy, let before = reading else { return Int64(clamping: elapsed) }
    let processor = Self.read(CLOCK_THREAD_CPUTIME_ID)
    reading = (before.thread, now, processor)
    return Int64(clamping: min(elapsed, processor &- before.processor))
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

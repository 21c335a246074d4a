import Glibc

/// The machine's monotonic clock. Code that receives the time from its caller must not read it.
package enum MonotonicClock {
  /// Returns nanoseconds since an arbitrary point (`CLOCK_MONOTONIC`), which never decrease. Costs
  /// about 20 ns (vDSO).
  package static func nanoseconds() -> UInt64 { read(CLOCK_MONOTONIC) }
}

/// The time of day, which an administrator or a time server may set back.
package enum WallClock {
  /// Returns nanoseconds since 1970 (`CLOCK_REALTIME`).
  package static func nanoseconds() -> UInt64 { read(CLOCK_REALTIME) }

  /// Returns milliseconds since 1970.
  package static func milliseconds() -> Int { Int(nanoseconds() / 1_000_000) }
}

/// The processor time of threads.
package enum ThreadClock {
  /// Returns the nanoseconds for which the calling thread had a processor
  /// (`CLOCK_THREAD_CPUTIME_ID`). Costs a system call, about 200 ns.
  package static func nanoseconds() -> UInt64 { read(CLOCK_THREAD_CPUTIME_ID) }
}

/// The time since the machine was started, including sleep.
package enum BootClock {
  /// Returns nanoseconds since the start of the machine (`CLOCK_BOOTTIME`).
  package static func nanoseconds() -> UInt64 { read(CLOCK_BOOTTIME) }
}

private func read(_ clock: clockid_t) -> UInt64 {
  var time = timespec()
  // The call cannot fail: the clocks exist on every Linux, and the pointer is valid.
  clock_gettime(clock, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

import ArgumentParser
import Glibc

// See `Invariants`.
setenv("LIVEHOST_CHECK_INVARIANTS", "1", 1)
// Hash tables have the same order in each process.
if getenv("SWIFT_DETERMINISTIC_HASHING") == nil {
  setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1)
  execv("/proc/self/exe", CommandLine.unsafeArgv)
  fatalError("livehost-vopr cannot start itself: \(errno)")
}
SimulatedExecutor.install()
Vopr.main()

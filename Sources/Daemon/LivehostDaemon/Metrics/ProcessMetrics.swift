import Foundation
import Glibc
import Prometheus
import SystemSupport

/// The standard process metrics of Prometheus client libraries, under the same names.
enum ProcessMetrics {
  /// Returns the metrics that the kernel provides; omits unavailable ones.
  static func families() -> [MetricFamily] {
    var usage = rusage()
    getrusage(RUSAGE_SELF.rawValue, &usage)
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    var families = [
      MetricFamily(
        "process_cpu_seconds_total", .counter,
        seconds(usage.ru_utime) + seconds(usage.ru_stime),
        help: "User and system processor time."),
      MetricFamily(
        "process_resident_memory_bytes", .gauge, Double(DaemonStatus.residentBytes()),
        help: "Resident memory."),
    ]
    if let start = startTime() {
      families.append(
        MetricFamily(
          "process_start_time_seconds", .gauge, start,
          help: "Start time of the process, in seconds since 1970."))
    }
    if let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
      families.append(
        MetricFamily("process_open_fds", .gauge, Double(open), help: "Open file descriptors."))
    }
    var limit = rlimit()
    if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
      families.append(
        MetricFamily(
          "process_max_fds", .gauge, Double(limit.rlim_cur),
          help: "Maximum number of open file descriptors."))
    }
    return families
  }

  /// Returns the start time of the process in seconds since 1970, or `nil` if it is unknown.
  ///
  /// Adds the start time since boot, from `/proc/self/stat`, to the boot time computed from two
  /// clocks. The service's sandbox hides the boot time in `/proc/stat`.
  private static func startTime() -> Double? {
    guard let text = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8),
      let end = text.lastIndex(of: ")")
    else { return nil }
    // The name may contain any character. Of the fields after the name, the first is the state and
    // the twentieth is the start time.
    let fields = text[text.index(after: end)...].split(separator: " ")
    guard fields.count > 19, let ticks = Double(fields[19]) else { return nil }
    let booted = Double(WallClock.nanoseconds() - BootClock.nanoseconds()) / 1e9
    return booted + ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
  }
}

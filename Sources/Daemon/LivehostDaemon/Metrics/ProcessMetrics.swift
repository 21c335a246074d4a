import Foundation
import Glibc
import Platform
import Prometheus

/// The metrics that Prometheus' own clients report about their process, under the same names.
enum ProcessMetrics {
  /// The metrics that the kernel provides; others are left out.
  static func families() -> [MetricFamily] {
    var usage = rusage()
    getrusage(RUSAGE_SELF.rawValue, &usage)
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    var families = [
      MetricFamily(
        "process_cpu_seconds_total", .counter,
        seconds(usage.ru_utime) + seconds(usage.ru_stime),
        help: "User and system time on processors."),
      MetricFamily(
        "process_resident_memory_bytes", .gauge, Double(DaemonStatus.residentBytes()),
        help: "Resident memory."),
    ]
    if let start = startTime() {
      families.append(
        MetricFamily(
          "process_start_time_seconds", .gauge, start,
          help: "When the process started, since 1970."))
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
          help: "Most file descriptors to be open."))
    }
    return families
  }

  /// From proc(5): the time since boot at which the process started, and the clocks. The machine's
  /// own files of proc are hidden from the service.
  private static func startTime() -> Double? {
    guard let text = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8),
      let end = text.lastIndex(of: ")")
    else { return nil }
    // After the name, which may contain anything: the first field is the state, the twentieth the
    // start.
    let fields = text[text.index(after: end)...].split(separator: " ")
    guard fields.count > 19, let ticks = Double(fields[19]) else { return nil }
    let booted = Double(WallClock.nanoseconds() - BootClock.nanoseconds()) / 1e9
    return booted + ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
  }
}

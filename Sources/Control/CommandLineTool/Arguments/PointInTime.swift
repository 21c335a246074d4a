import ArgumentParser
import Glibc

/// A point in time as an option names it: `10m` ago, or `@1795260000` as `date +%s` gives it.
struct PointInTime: ExpressibleByArgument {
  /// Nanoseconds before now, or milliseconds since 1970.
  private enum Form {
    case ago(milliseconds: Int)
    case absolute(milliseconds: Int)
  }

  private let form: Form

  init?(argument: String) {
    if argument.hasPrefix("@") {
      guard let seconds = Double(argument.dropFirst()), seconds.isFinite, abs(seconds) < 1e12 else {
        return nil
      }
      form = .absolute(milliseconds: Int(seconds * 1_000))
      return
    }
    let number = argument.prefix { $0.isNumber || $0 == "." }
    let units = ["s": 1_000.0, "m": 60_000, "h": 3_600_000, "d": 86_400_000]
    guard let count = Double(number), let unit = units[String(argument.dropFirst(number.count))],
      count * unit < 1e15
    else { return nil }
    form = .ago(milliseconds: Int(count * unit))
  }

  /// In milliseconds since 1970.
  var milliseconds: Int {
    switch form {
    case .absolute(let milliseconds): milliseconds
    case .ago(let milliseconds): Self.now - milliseconds
    }
  }

  private static var now: Int {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return time.tv_sec * 1_000 + time.tv_nsec / 1_000_000
  }
}

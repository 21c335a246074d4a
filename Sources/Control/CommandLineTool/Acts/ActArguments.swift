import ArgumentParser
import LiveEvents
import ProgramArguments

/// The duration of a time-out, such as `90s`, `10m` or `1h30m`, as an argument.
struct TimeoutDuration: ExpressibleByArgument {
  let seconds: Int

  init?(argument: String) {
    guard let milliseconds = PointInTime.duration(argument), milliseconds % 1_000 == 0,
      PlatformAct.seconds.contains(milliseconds / 1_000)
    else { return nil }
    seconds = milliseconds / 1_000
  }

  static var defaultCompletionKind: CompletionKind { .list([]) }
}

/// The position of a mode or of the shield, as an argument.
enum ModeSwitch: String, CaseIterable, ExpressibleByArgument {
  case on, off
}

/// The decision about a held message, as an argument.
enum HeldVerdict: String, CaseIterable, ExpressibleByArgument {
  case allow, deny
}

/// The wait between two messages of a person, as an argument; 0 for `off`.
struct SlowMode: ExpressibleByArgument {
  let seconds: Int

  init?(argument: String) {
    if argument == "off" {
      seconds = 0
    } else if let duration = TimeoutDuration(argument: argument) {
      seconds = duration.seconds
    } else {
      return nil
    }
  }

  static var defaultCompletionKind: CompletionKind { .list(["off"]) }
}

/// How long a person must have followed the channel before writing, as an argument: 0 for `on`, -1
/// for `off`.
struct FollowersMode: ExpressibleByArgument {
  let minutes: Int

  init?(argument: String) {
    switch argument {
    case "on": minutes = 0
    case "off": minutes = -1
    default:
      guard let seconds = TimeoutDuration(argument: argument)?.seconds, seconds % 60 == 0 else {
        return nil
      }
      minutes = seconds / 60
    }
  }

  static var defaultCompletionKind: CompletionKind { .list(["on", "off"]) }
}

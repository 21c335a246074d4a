public import ArgumentParser
public import ControlInterface
public import LiveEvents
import PlatformFormats

extension RoomName: ExpressibleByArgument {
  public init?(argument: String) { self.init(argument) }

  public static var defaultCompletionKind: CompletionKind { .rooms }
}

extension Feature: ExpressibleByArgument {}
extension ScrollPosition: ExpressibleByArgument {}

/// How fast a recording is played.
package enum PlaybackSpeed: Equatable, Sendable {
  /// By its own time stamps, multiplied by a factor.
  case times(Double)
  /// As fast as the daemon accepts it.
  case maximum
}

extension PlaybackSpeed: ExpressibleByArgument {
  package var defaultValueDescription: String {
    switch self {
    case .times(let factor): factor == factor.rounded() ? "\(Int(factor))" : "\(factor)"
    case .maximum: "max"
    }
  }

  package init?(argument: String) {
    if argument == "max" {
      self = .maximum
    } else if let factor = Double(argument), factor.isFinite, factor >= 0.001, factor <= 1_000_000 {
      self = .times(factor)
    } else {
      return nil
    }
  }
}

/// The format that the lines of a recording must have.
package enum LineFormat: String, CaseIterable, Sendable, ExpressibleByArgument {
  /// Whatever the daemon recognises, mixed or not.
  case auto
  case native
  case twitchIRC = "twitch-irc"
  case youtube = "youtube-live-chat"
  case eventSub = "twitch-eventsub"
  case chatterino
  case twitchDownloader = "twitch-downloader"
  case chatDownloader = "chat-downloader"
  case pytchat

  /// The format that is translated into native lines before they are sent; `nil` for those that the daemon reads.
  var platformFormat: PlatformFormat? { PlatformFormat(rawValue: rawValue) }

  /// Whether a line, given without its line end, begins as the format does. Blank lines do.
  package func admits(_ line: some Collection<UInt8>) -> Bool {
    guard let first = line.first(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0D }) else {
      return true
    }
    return switch self {
    case .auto: true
    case .twitchIRC:
      first == UInt8(ascii: "@") || first == UInt8(ascii: ":")
        || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first)
    default: first == UInt8(ascii: "{")
    }
  }
}

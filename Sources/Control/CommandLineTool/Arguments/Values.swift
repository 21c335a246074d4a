public import ArgumentParser
import ChatImport
public import ControlInterface
public import LiveEvents
import TerminalScreen

extension RoomName: ExpressibleByArgument {
  public init?(argument: String) { self.init(argument) }

  public static var defaultCompletionKind: CompletionKind { .rooms }
}

extension Feature: ExpressibleByArgument {}
extension ScrollPosition: ExpressibleByArgument {}
extension RoomColumn: ExpressibleByArgument {}
extension ViewColumn: ExpressibleByArgument {}

/// How fast a recording is played, relative to its timestamps.
package enum PlaybackSpeed: Equatable, Sendable {
  /// The recording's original speed, multiplied by a factor.
  case times(Double)
  /// As fast as the daemon accepts lines.
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

/// The format of a recording's lines.
package enum LineFormat: String, CaseIterable, Sendable, ExpressibleByArgument {
  /// Any mixture of formats that the daemon recognises.
  case auto
  case native
  case twitchIRC = "twitch-irc"
  case youtube = "youtube-live-chat"
  case eventSub = "twitch-eventsub"
  case chatterino
  case twitchDownloader = "twitch-downloader"
  case chatDownloader = "chat-downloader"
  case pytchat

  /// The format from which this program translates lines into native lines; `nil` if the daemon can
  /// read the lines untranslated.
  var platformFormat: PlatformFormat? { PlatformFormat(rawValue: rawValue) }

  /// Returns whether a line can have this format, judged by its first character. The line has no
  /// line ending. Blank lines always fit.
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

import ChatImport
import FuzzSupport
import JSON
import LiveEvents
import LiveSources
import ObsStudio
import RateLimiting
import TwitchChat
import TwitchEvents

/// A constant generator, so that the same bytes give the same result.
private struct NoGenerator: RandomNumberGenerator {
  mutating func next() -> UInt64 { 0x9E37_79B9_7F4A_7C15 }
}

/// Passes lines of a server to a session that reads one channel.
final class TwitchSourceParser: Parser {
  func read(_ bytes: UnsafeBufferPointer<UInt8>) {
    var session = TwitchSession(
      TwitchSettings(channels: ["ada"]), generator: NoGenerator(), at: .origin)
    session.wake(at: .origin)
    session.opened(1, at: .origin)
    var splitter = LineSplitter(maximumLength: 65_536)
    splitter.receive(UnsafeRawBufferPointer(bytes)) { line in
      _ = session.receive(line, on: 1, at: .origin)
      for effect in session.takeEffects() {
        if case .send(_, let line) = effect {
          check("a sent line has no line break", !line.utf8.contains(0x0A))
        }
      }
    }
  }
}

/// Reads messages of EventSub and answers to the session's requests, one per line.
final class TwitchEventsParser: Parser {
  func read(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard let address = HTTPAddress("wss://events.example/ws", .webSocket) else { return }
    var session = EventSubSession(
      EventSubSettings(channel: "ada", address: address), generator: NoGenerator(), at: .origin)
    session.wake(at: .origin)
    session.opened(1, at: .origin)
    var requests: [Int] = []
    var acts = 0
    for line in bytes.split(separator: 0x0A) {
      guard let message = try? JSONValue(parsing: Array(line)) else { continue }
      if let id = requests.popLast() {
        session.answered(id, status: 200, message, at: .origin)
      } else {
        session.receive(message, on: 1, at: .origin)
      }
      for effect in session.takeEffects() {
        switch effect {
        case .ask(let id, _): requests.append(id)
        case .offer(let kinds):
          // Each offer is followed by one act, so that the next answers are answers to acts.
          guard kinds.contains(.delete), let act = try? PlatformAct(.delete, message: "m") else {
            break
          }
          acts += 1
          session.carryOut(ActRequest(identifier: "\(acts)", act: act), at: .origin)
        case .outcome(let act, _): check("only requested acts end", Int(act) ?? 0 <= acts)
        case .event(let notification):
          var lines = NativeLines()
          EventSub.translate(notification, into: &lines)
        default: break
        }
      }
    }
  }
}

/// Reads messages of OBS, one per line.
final class ObsParser: Parser {
  func read(_ bytes: UnsafeBufferPointer<UInt8>) {
    var session = ObsSession(ObsSettings(), generator: NoGenerator(), at: .origin)
    session.wake(at: .origin)
    session.opened(1, at: .origin)
    for line in bytes.split(separator: 0x0A) {
      guard let message = try? JSONValue(parsing: Array(line)) else { continue }
      session.receive(message, on: 1, at: .origin)
      for effect in session.takeEffects() {
        if case .event(let event, _) = effect {
          check("a line has fewer than 65,536 bytes", event.line(room: .main, at: 0).count < 65_536)
        }
      }
    }
  }
}

import ArgumentParser
import ControlInterface
import JSON
import LiveEvents
import TerminalScreen

/// A verb that performs an act on a platform and waits for the outcome.
protocol ActVerb: Verb {
  var room: RoomName { get }
  var route: ActRoute { get }
  /// The person on whom the verb acts; nil if the verb acts on no person.
  var subject: PersonArgument? { get }
  /// Returns the act, without the person.
  func act(_ context: Context) async throws -> PlatformActReport
  /// Returns a line to print after the outcome of a successful act, such as how to undo it.
  func advice(_ act: PlatformActReport, platform: String?) -> String?
}

/// An act verb that acts on a person.
protocol PersonActVerb: ActVerb {
  var person: PersonArgument { get }
}

extension PersonActVerb {
  var subject: PersonArgument? { person }
}

/// The options that choose the controller of an act.
struct ActRoute: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Act on this platform, such as twitch; needed only if several platforms can act.",
      valueName: "name"))
  var platform: HostText?
  @Option(
    help: ArgumentHelp(
      "Let this source act; needed only if several sources can act on the platform.",
      valueName: "name"))
  var source: HostText?
}

extension ActVerb {
  var subject: PersonArgument? { nil }

  func advice(_ act: PlatformActReport, platform: String?) -> String? { nil }

  func run(_ context: Context) async throws {
    // Standard input is read before connecting, because it can take any length of time.
    var act = try await act(context)
    var platform = route.platform?.text
    let reply = try await context.withDaemon { client in
      if let subject {
        let chat = try await client.getRoom(room.description, feature: .chat).features.chat
        let found = try KnownPeople(chat).find(subject, on: platform, in: room)
        act.user = found.user
        platform = found.platform
      }
      return try await client.act(
        room: room.description, kind: act.kind, text: act.text, message: act.message,
        user: act.user, seconds: act.seconds, reason: act.reason, modes: act.modes, on: act.on,
        platform: platform, source: route.source?.text, by: UserAccount.name(context.environment))
    }
    let result = try ActText.json(act, room: room.description, platform: platform, reply)
    switch reply.outcome {
    case .confirmed, .sent:
      try context.print(.object(result)) {
        [ActText.success(act, isConfirmed: reply.outcome == .confirmed)]
          + [advice(act, platform: platform)].compactMap { $0 }
      }
    case .refused, nil:
      throw Failure(.failed, ActText.refusal(act, reply.reason), details: result)
    }
  }
}

package import ArgumentParser
package import ControlInterface
package import LiveEvents
import TerminalScreen

/// A person on whom the host acts, as an argument.
package enum PersonArgument: Equatable, Sendable {
  /// The platform's identifier.
  case identifier(String)
  /// A name that the chat shows, written as `@name`.
  case name(String)
}

extension PersonArgument: ExpressibleByArgument {
  package init?(argument: String) {
    guard let text = HostText(argument: argument)?.text, text != "@" else { return nil }
    self = text.hasPrefix("@") ? .name(String(text.dropFirst())) : .identifier(text)
  }

  package static var defaultCompletionKind: CompletionKind { .people }
}

/// A person in the chat of a room.
package struct ChatPerson: Equatable, Sendable {
  package var user: UserReport
  /// The person's platform; nil if unknown.
  package var platform: String?

  package init(user: UserReport, platform: String?) {
    self.user = user
    self.platform = platform
  }
}

/// The people whose messages or notices a room stores.
package struct KnownPeople {
  /// The people, the most recent first. The same person on two platforms is two people.
  package private(set) var people: [ChatPerson] = []

  package init(_ chat: ChatReport?) {
    guard let chat else { return }
    for message in chat.messages.reversed() { add(message.user, message.platform) }
    for notice in (chat.noticeQueue ?? []).reversed() { add(notice.user, nil) }
  }

  private mutating func add(_ user: UserReport, _ platform: String?) {
    guard !user.id.isEmpty else { return }
    let isKnown = people.contains {
      $0.user.id == user.id
        && ($0.platform == platform || platform == nil && $0.user.name == user.name)
    }
    if isKnown { return }
    // The daemon needs only the name and the identifier.
    people.append(
      ChatPerson(user: UserReport(id: user.id, name: user.name), platform: platform))
  }

  /// Returns the person whom an argument names. A person whom the room does not know can be named
  /// only by the identifier.
  ///
  /// - Parameter platform: the platform that the user chose; nil if the user chose none.
  /// - Throws: ``Failure`` if the name is unknown, or if the argument fits several people.
  package func find(
    _ argument: PersonArgument, on platform: String?, in room: RoomName
  ) throws(Failure) -> ChatPerson {
    let candidates = people.filter {
      platform == nil || $0.platform == nil || $0.platform == platform
    }
    let fitting = candidates.filter { argument.fits($0.user) }
    // If two sources read the same chat, one of them may not report the platform. A person from
    // that source is not a second person.
    let found = fitting.filter { person in
      person.platform != nil
        || !fitting.contains { $0.platform != nil && $0.user.id == person.user.id }
    }
    if found.count == 1 {
      return ChatPerson(user: found[0].user, platform: found[0].platform ?? platform)
    }
    guard found.isEmpty else { throw Self.ambiguous(argument, found, in: room) }
    switch argument {
    case .name(let name):
      throw Failure(
        .failed,
        "the room '\(room)' stores no message from '@\(TerminalText.sanitized(name))'; give the "
          + "person's identifier, without @")
    case .identifier(let identifier):
      // The platform could take this name for the identifier of another person.
      if candidates.contains(where: { PersonArgument.name(identifier).fits($0.user) }) {
        let name = TerminalText.sanitized(identifier)
        throw Failure(
          .failed, "'\(name)' is a person's name, not an identifier; write '@\(name)'")
      }
      return ChatPerson(user: UserReport(id: identifier, name: identifier), platform: platform)
    }
  }

  private static func ambiguous(
    _ argument: PersonArgument, _ found: [ChatPerson], in room: RoomName
  ) -> Failure {
    let choices = found.map { person in
      person.platform.map { "\(person.user.id) on \($0)" } ?? person.user.id
    }
    let isOnePlatform = Set(found.map(\.platform)).count == 1
    let remedy = isOnePlatform ? "give the identifier" : "give the identifier and --platform"
    return Failure(
      .failed,
      TerminalText.sanitized(
        "'\(argument)' fits several people in the room '\(room)': "
          + "\(choices.joined(separator: ", ")); \(remedy)"))
  }
}

extension PersonArgument: CustomStringConvertible {
  package var description: String {
    switch self {
    case .identifier(let identifier): identifier
    case .name(let name): "@\(name)"
    }
  }

  /// Returns whether the argument names this person. Names are compared without regard to case,
  /// because users see them in the case that the platform shows.
  fileprivate func fits(_ user: UserReport) -> Bool {
    switch self {
    case .identifier(let identifier): user.id == identifier
    // Some platforms have identifiers that begin with @.
    case .name(let name):
      user.name.lowercased() == name.lowercased() || user.id == "@" + name
    }
  }
}

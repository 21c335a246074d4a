import JSON
package import LiveEvents
package import LiveSources
package import RateLimiting

/// Passes the room's acts to Social Stream Ninja, which carries them out on the platforms without
/// reporting an outcome.
extension SocialStreamSession {
  /// The kinds of acts that Social Stream Ninja carries out.
  package static let acts: [ActKind] = [.say, .ban]

  package mutating func carryOut(_ request: ActRequest, at now: Instant) {
    let outcome: RequestOutcome
    switch Self.command(for: request.act, offered: offeredActs) {
    case .failure(let refusal): outcome = .refused(reason: refusal.reason)
    case .success(let command):
      if let connection, connection.openedAt != nil {
        effects.append(.send(connection.id, command))
        outcome = .sent
      } else {
        outcome = .refused(reason: "the server of Social Stream Ninja is not connected")
      }
    }
    effects.append(.outcome(request: request.identifier, outcome))
  }

  private struct Refusal: Error { var reason: String }

  private static func command(
    for act: PlatformAct, offered: [ActKind]
  ) -> Result<JSONValue, Refusal> {
    switch (offered.contains(act.kind) ? act.kind : nil, act.text, act.person) {
    case (.say?, let text?, _): return say(String(text))
    case (.ban?, _, let person?): return block(person)
    default: return .failure(Refusal(reason: "Social Stream Ninja cannot carry out this act"))
    }
  }

  private static func say(_ text: String) -> Result<JSONValue, Refusal> {
    // Social Stream Ninja types the text into the chats of the sites. A site executes a command
    // instead of showing it, and a command may clear the whole chat.
    let start = text.visibleStart
    guard start.first != "/",
      start.first != "." || start.dropFirst().first?.properties.isAlphabetic != true
    else {
      return .failure(Refusal(reason: "the chats would execute the text as a command"))
    }
    return .success(["action": "sendChat", "value": .string(text)])
  }

  private static func block(_ person: Person) -> Result<JSONValue, Refusal> {
    // `SocialStreamChat` puts the platform before the identifiers of people.
    let id = String(person.id)
    guard let slash = id.firstIndex(of: "/"), slash > id.startIndex, !person.name.isEmpty else {
      return .failure(Refusal(reason: "the platform of the person is unknown"))
    }
    return .success([
      "action": "blockUser",
      "value": ["chatname": .string(String(person.name)), "type": .string(String(id[..<slash]))],
    ])
  }

  /// Does nothing, because every act has an outcome immediately.
  package mutating func withdraw(_ identifier: String) {}
}

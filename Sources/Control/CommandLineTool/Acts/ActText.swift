package import ControlInterface
package import JSON
import LiveEvents
import TerminalScreen
import Wording

/// The outcome of an act on a platform, as text and as JSON.
package enum ActText {
  /// Returns the line for an act that was carried out.
  ///
  /// - Parameter isConfirmed: whether the platform confirmed the act; otherwise the act was only
  ///   sent to the platform.
  package static func success(_ act: PlatformActReport, isConfirmed: Bool) -> String {
    let (subject, deed) = parts(act)
    return TerminalText.sanitized(
      isConfirmed
        ? "confirmed: \(subject) \(deed)"
        : "sent; the platform does not confirm whether \(subject) \(deed)")
  }

  /// Returns the message for an act that was refused, or whose outcome is unknown.
  package static func refusal(_ act: PlatformActReport, _ reason: String?) -> String {
    let (subject, deed) = parts(act)
    let reason = reason ?? "refused"
    // The act may have been carried out even though no outcome arrived.
    let isUnknown = reason == "no answer" || reason.hasPrefix("the outcome is unknown")
    return TerminalText.sanitized(
      isUnknown
        ? "it is unknown whether \(subject) \(deed): \(reason)"
        : "\(subject) not \(deed): \(reason)")
  }

  /// Returns the JSON members for an act and its outcome.
  package static func json(
    _ act: PlatformActReport, room: String, platform: String?, _ reply: ActReply
  ) throws -> [JSONName: JSONValue] {
    var members: [JSONName: JSONValue] = [
      "room": .string(room), "act": try JSONValue(encoding: act),
    ]
    members["platform"] = platform.map(JSONValue.string)
    members["outcome"] = reply.outcome.map { .string($0.rawValue) }
    members["reason"] = reply.reason.map(JSONValue.string)
    return members
  }

  /// Returns the subject with its auxiliary verb, and the participle: `not` can be inserted between
  /// the two.
  private static func parts(_ act: PlatformActReport) -> (subject: String, deed: String) {
    let person =
      act.user.map { $0.name == $0.id ? $0.id : "\($0.name) (\($0.id))" } ?? "the person"
    let message = "message \(act.message ?? "")"
    return switch act.kind {
    case .say: ("the message was", "posted")
    case .reply: ("the reply was", "posted")
    case .announce: ("the announcement was", "posted")
    case .delete: ("\(message) was", "deleted")
    case .timeOut:
      ("\(person) was", "timed out for \(Format.duration(seconds: act.seconds ?? 0))")
    case .ban: ("\(person) was", "banned")
    case .unban: ("\(person) was", "unbanned")
    case .shoutOut: ("the channel of \(person) was", "recommended")
    case .mark: ("the moment was", "marked")
    case .setTitle: ("the title was", "changed")
    case .setCategory: ("the category was", "changed")
    case .setChatModes: ("the chat modes were", "changed")
    case .setShield: ("the shield was", act.on == true ? "turned on" : "turned off")
    case .reviewHeld: ("\(message) was", act.on == true ? "allowed" : "denied")
    }
  }
}

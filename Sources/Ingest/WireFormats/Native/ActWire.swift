import JSON
import LiveEvents

/// Reads and writes acts on platforms. Only this program writes such lines. An unusable member,
/// except one of the modes, rejects the line, because an act must not be guessed.
extension RequestedAct {
  init(_ line: borrowing NativeMembers) throws(RejectionReason) {
    self.init(
      try PlatformAct(line), platform: try line.exactName(.platform),
      source: try line.exactName(.source), by: try line.exactName(.by))
  }

  func write(to object: inout JSONWriter) {
    object.add("kind", act.kind.rawValue)
    object.add("text", act.text)
    object.add("message", act.message)
    if let person = act.person { object.add("user", person) }
    object.add("seconds", act.seconds)
    object.add("reason", act.reason)
    act.modes?.write(to: &object)
    object.add("on", act.on)
    object.add("platform", platform)
    object.add("source", source)
    object.add("by", by)
  }
}

extension PlatformAct {
  fileprivate init(_ line: borrowing NativeMembers) throws(RejectionReason) {
    let kind: ActKind = try line.choice(.kind)
    let text = line.has(.text) ? try line.text(.text) : nil
    let message = try line.exactName(.message)
    let person = line.has(.user) ? try line.person() : nil
    let seconds = try line.exactInteger(.seconds, in: PlatformAct.seconds)
    let reason = line.has(.reason) ? try line.text(.reason) : nil
    let modes = kind == .setChatModes ? try ChatModes(line) : nil
    let on = try line.exactBool(.on)
    do throws(Fault) {
      try self.init(
        kind, text: text, message: message, person: person, seconds: seconds, reason: reason,
        modes: modes, on: on)
    } catch {
      let member = error.member.native
      throw line.has(member) ? line.invalid(member) : .missingMember
    }
  }
}

extension PlatformAct.Member {
  fileprivate var native: NativeMember {
    switch self {
    case .text: .text
    case .message: .message
    case .user: .user
    case .seconds: .seconds
    case .reason: .reason
    // The modes are members of the line itself.
    case .modes: .slowSeconds
    case .on: .on
    }
  }
}

extension OfferedActs {
  /// Reads the acts of a controller, or returns `nil` if the line names none.
  static func read(_ line: borrowing NativeMembers) throws(RejectionReason) -> OfferedActs? {
    guard line.has(.acts) else { return nil }
    var kinds: [ActKind] = []
    for name in try line.names(.acts, atMost: ActKind.allCases.count) {
      guard let kind = ActKind(rawValue: String(name)) else { throw line.invalid(.acts) }
      kinds.append(kind)
    }
    return OfferedActs(
      platform: try line.exactName(.platform), source: try line.exactName(.source), kinds: kinds)
  }

  func write(to object: inout JSONWriter) {
    object.addArray("acts") { array in for kind in kinds { array.append(kind.rawValue) } }
    object.add("platform", platform)
    object.add("source", source)
  }
}

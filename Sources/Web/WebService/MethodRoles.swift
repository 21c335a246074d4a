import JSON

/// The least role that each method of the control interface requires. This table is the only place
/// where roles are compared with methods.
package enum MethodRoles {
  /// Methods without an entry require the role host, so a new method is not open to others by
  /// mistake.
  package static let methods: [String: PageRole] = [
    "Explain": .viewer, "GetMetrics": .viewer, "GetPositions": .viewer, "GetRoom": .viewer,
    "GetStatus": .viewer, "ListHangs": .viewer, "ListRecordings": .viewer, "ListRooms": .viewer,
    "ListSources": .viewer, "ListTasks": .viewer, "MonitorHangs": .viewer, "MonitorRoom": .viewer,
    "MonitorScreen": .viewer,

    "Act": .moderator, "Admit": .moderator, "HandleActivity": .moderator,
    "HandleNotice": .moderator, "ScrollChat": .moderator, "SetChatFilter": .moderator,
    "NotePerson": .moderator, "SetMentionedNames": .moderator, "ShowPerson": .moderator,
    "ShowThread": .moderator,
  ]

  /// The kinds of act that the method `Act` carries out for moderators. All other kinds concern the
  /// stream rather than its chat, and require the role host.
  package static let moderatorActs: Set<String> = [
    "announce", "ban", "delete", "reply", "reviewHeld", "say", "setChatModes", "shoutOut",
    "timeOut", "unban",
  ]

  /// Describes access for the page, which hides what the server would refuse.
  static func report(_ access: GrantedAccess?) -> JSONValue {
    let role = access?.role ?? .viewer
    var report: [JSONName: JSONValue] = [
      "role": .string(role.rawValue), "name": access?.person.map { .string($0.name) } ?? .null,
    ]
    // A host may call all methods, including those without an entry.
    if role < .host {
      report["methods"] = .array(
        methods.filter { $0.value <= role }.keys.sorted().map { .string($0) })
      report["acts"] = .array(
        role < .moderator ? [] : moderatorActs.sorted().map { .string($0) })
    }
    return .object(report)
  }

  /// Returns the least role that may call a method at all.
  package static func least(for method: String) -> PageRole { methods[method] ?? .host }

  /// Returns the least role for acts of a kind; `kind` is nil if a call names no kind.
  package static func least(forAct kind: String?) -> PageRole {
    moderatorActs.contains(kind ?? "") ? .moderator : .host
  }
}

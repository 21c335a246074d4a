extension HangReport {
  /// What the journal records about a hang besides its kind: metadata of the log entry by name.
  ///
  /// ``init(kind:journalField:)`` makes the same hang of it again.
  package var journalFields: [String: String] {
    var fields = [
      "number": "\(number)", "timestamp": "\(timestamp)",
      "durationUsec": "\(durationMicroseconds)", "lane": "\(lane)", "reason": reason.rawValue,
    ]
    fields["room"] = room
    fields["feature"] = feature?.rawValue
    fields["action"] = action
    fields["view"] = view
    fields["effect"] = effect
    fields["processorUsec"] = processorMicroseconds.map { "\($0)" }
    fields["waitedUsec"] = waitedMicroseconds.map { "\($0)" }
    return fields
  }

  /// The hang that a journal entry describes; nil if something is missing or not a number.
  ///
  /// - Parameter field: gives the value of a field by the name that it has in ``journalFields``.
  package init?(kind: HangKind, journalField field: (String) -> String?) {
    func value(_ name: String) -> Int? { field(name).flatMap { Int($0) } }
    guard let number = value("number"), let timestamp = value("timestamp"),
      let duration = value("durationUsec"), let lane = value("lane"),
      let reason = field("reason").flatMap(HangReason.init(rawValue:))
    else { return nil }
    self.init(
      number: number, timestamp: timestamp, kind: kind, reason: reason,
      durationMicroseconds: duration, lane: lane, room: field("room"), action: field("action"),
      view: field("view"), effect: field("effect"),
      processorMicroseconds: value("processorUsec"), waitedMicroseconds: value("waitedUsec"))
  }

  /// The part of the screen whose work held the lane, if it was one: its actions begin with its
  /// name (`chat.messages`), and so do its views (`ChatView`).
  package var feature: Feature? {
    if let action {
      return action.split(separator: ".").first.flatMap { Feature(rawValue: "\($0)") }
    }
    guard let view = view?.lowercased() else { return nil }
    return Feature.allCases.first { view.hasPrefix($0.rawValue.lowercased()) }
  }
}

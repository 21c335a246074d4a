extension HangReport {
  /// The fields of the journal entry about a hang, except the field for its kind.
  ///
  /// ``init(kind:journalField:)`` restores the hang from these fields.
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

  /// Reads a hang from a journal entry, whose fields have the names in ``journalFields``. Fails if
  /// a required field is missing or not a number.
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

  /// The part of the screen whose work blocked the lane; nil if no part's work did. The names of
  /// actions (`chat.messages`) and of views (`ChatView`) begin with the name of their part.
  package var feature: Feature? {
    if let action {
      return action.split(separator: ".").first.flatMap { Feature(rawValue: "\($0)") }
    }
    guard let view = view?.lowercased() else { return nil }
    return Feature.allCases.first { view.hasPrefix($0.rawValue.lowercased()) }
  }
}

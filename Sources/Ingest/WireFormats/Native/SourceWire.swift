import JSON
import LiveEvents

extension SourceEvent: NativeEvent {
  enum NativeType: String, CaseIterable {
    case state = "source.state"
    case gap
  }

  var nativeType: NativeType {
    switch self {
    case .state: .state
    case .gap: .gap
    }
  }

  init(_ type: NativeType, from line: borrowing NativeMembers) throws(RejectionReason) {
    self =
      switch type {
      case .state: .state(try SourceHealth(line))
      case .gap: .gap(try MissedTime(line))
      }
  }

  func write(to object: inout JSONWriter) {
    switch self {
    case .state(let status):
      object.add("source", status.source)
      object.add("state", status.state.rawValue)
      object.add("platform", status.platform)
      object.add("reason", status.reason)
      object.add("behindMs", status.behindMilliseconds)
      object.add("lost", status.lost)
      object.add("backfilled", status.backfilled)
      object.add("duplicate", status.duplicate)
      object.add("notShown", status.notShown)
    case .gap(let gap):
      object.add("source", gap.source)
      object.add("from", Int(gap.from))
      object.add("to", Int(gap.to))
      object.add("reason", gap.reason)
    }
  }
}

extension SourceHealth {
  fileprivate init(_ line: borrowing NativeMembers) throws(RejectionReason) {
    self.init(
      source: try line.name(.source), state: try line.choice(.state),
      platform: line.optionalName(.platform),
      reason: line.optionalShortText(.reason),
      behindMilliseconds: line.optional(.behindMs) { (line, member) throws(RejectionReason) in
        try line.milliseconds(member, in: EventLimits.total)
      },
      lost: line.optionalInteger(.lost, in: EventLimits.total) ?? 0,
      backfilled: line.optionalInteger(.backfilled, in: EventLimits.total) ?? 0,
      duplicate: line.optionalInteger(.duplicate, in: EventLimits.total) ?? 0,
      notShown: line.optionalInteger(.notShown, in: EventLimits.total).flatMap { $0 > 0 ? $0 : nil }
    )
  }
}

extension MissedTime {
  fileprivate init(_ line: borrowing NativeMembers) throws(RejectionReason) {
    self.init(
      source: try line.name(.source),
      from: Timestamp(try line.milliseconds(.from, in: NativeMembers.timestamps)),
      to: Timestamp(try line.milliseconds(.to, in: NativeMembers.timestamps)),
      reason: try line.shortText(.reason))
    guard to >= from else { throw line.invalid(.to) }
  }
}

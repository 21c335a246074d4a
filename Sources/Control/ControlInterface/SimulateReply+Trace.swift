extension SimulateReply {
  /// Removes the trace from this reply, and returns the trace as separate replies.
  mutating func removeTraceParts() -> [SimulateReply] {
    guard let scalars = trace?.unicodeScalars else { return [] }
    trace = nil
    var parts: [SimulateReply] = []
    var rest = scalars[...]
    while !rest.isEmpty {
      var part = SimulateReply(percent: percent)
      part.trace = String(rest.prefix(Self.partLength))
      parts.append(part)
      rest = rest.dropFirst(Self.partLength)
    }
    return parts
  }

  private static let partLength = 500_000
}

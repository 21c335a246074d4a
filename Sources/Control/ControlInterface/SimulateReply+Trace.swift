extension SimulateReply {
  /// Takes the trace out, as replies of their own.
  mutating func takeTraceParts() -> [SimulateReply] {
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

  /// Characters of a trace in one reply.
  private static let partLength = 500_000
}

package import LiveEvents

/// Lets so many people in per second.
///
/// Nothing is saved up while nobody waits: at most as many as are due in two seconds come in at once, or one.
package struct AdmissionPace: Equatable, Sendable, Codable {
  package let perSecond: Double
  /// How many people are due, a part of one included.
  private var due = 0.0
  private var last: Timestamp

  package init(perSecond: Double, since start: Timestamp) {
    self.perSecond = perSecond
    last = start
  }

  private enum CodingKeys: String, CodingKey { case perSecond, due, last }

  /// Refuses a pace at which nobody comes in, or fewer than nobody, which somebody else has written.
  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    perSecond = try values.decode(Double.self, forKey: .perSecond)
    due = try values.decode(Double.self, forKey: .due)
    last = try values.decode(Timestamp.self, forKey: .last)
    guard perSecond > 0, EventLimits.measure.contains(perSecond), (0...1).contains(due) else {
      throw DecodingError.dataCorruptedError(
        forKey: .perSecond, in: values, debugDescription: "nobody is let in at such a pace")
    }
  }

  /// How many people are due by then; they are not due any more.
  package mutating func take(until time: Timestamp) -> Int {
    // Time stamps may be far apart, and a clock may be set back.
    let seconds = max(Double(time) - Double(last), 0) / 1_000
    last = time
    due += min(seconds, max(2, 1 / perSecond)) * perSecond
    let people = Int(due)
    due -= Double(people)
    return people
  }
}

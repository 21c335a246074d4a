package import LiveEvents

/// Admits a number of people per second. Admissions do not accumulate while nobody waits: the
/// number of people admitted together is at most the number due within two seconds, or 1 if that
/// number is smaller.
package struct AdmissionPace: Equatable, Sendable, Codable {
  package let perSecond: Double
  /// The number of people due, including a fraction.
  private var due = 0.0
  private var last: Timestamp

  package init(perSecond: Double, since start: Timestamp) {
    self.perSecond = perSecond
    last = start
  }

  private enum CodingKeys: String, CodingKey { case perSecond, due, last }

  /// Decodes a pace. Rejects values that admit nobody or are negative, because the file may be
  /// manipulated.
  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    perSecond = try values.decode(Double.self, forKey: .perSecond)
    due = try values.decode(Double.self, forKey: .due)
    last = try values.decode(Timestamp.self, forKey: .last)
    guard perSecond > 0, EventLimits.measure.contains(perSecond), (0...1).contains(due),
      last.isCountable
    else {
      throw DecodingError.dataCorruptedError(
        forKey: .perSecond, in: values, debugDescription: "the pace is out of range")
    }
  }

  /// Returns the number of people due by `time`, who are then no longer due.
  package mutating func removeDue(until time: Timestamp) -> Int {
    // Timestamps may be far apart, and a clock may be set back.
    let seconds = max(Double(time) - Double(last), 0) / 1_000
    last = time
    due += min(seconds, max(2, 1 / perSecond)) * perSecond
    let people = Int(due)
    due -= Double(people)
    return people
  }
}

public import RateLimiting

/// Counters of what happened to every input of a pipeline. At any instant `received = applied +
/// coalesced + rejected + pending`.
///
/// The mutating methods move inputs from one counter to another and so cannot break the equation.
/// Wrong calls can only make `pending` negative, which ``isConserved`` checks.
public struct ConservationCounters: Hashable, Sendable, Codable {
  /// The number of inputs so far.
  public var received: Int
  /// Inputs whose content was delivered, alone, in a batch, in a sum or in a summary.
  public var applied: Int
  /// Inputs superseded by a newer value of the same key.
  public var coalesced: Int
  /// Inputs that were rejected.
  public var rejected: Int
  /// Inputs that are neither applied, coalesced nor rejected yet.
  public var pending: Int

  /// Creates counters with zero counts.
  public init() {
    (received, applied, coalesced, rejected, pending) = (0, 0, 0, 0, 0)
  }

  /// Creates counters from given counts without checking them (see ``isConserved``).
  public init(received: Int, applied: Int, coalesced: Int, rejected: Int, pending: Int) {
    self.received = received
    self.applied = applied
    self.coalesced = coalesced
    self.rejected = rejected
    self.pending = pending
  }

  /// Whether every input is accounted for and no counter is negative.
  public var isConserved: Bool {
    received == applied + coalesced + rejected + pending
      && applied >= 0 && coalesced >= 0 && rejected >= 0 && pending >= 0
  }

  /// Counts new inputs as pending, until another method counts their result.
  public mutating func receive(_ count: Int = 1) {
    received += count
    pending += count
  }

  /// Counts pending inputs as applied.
  public mutating func apply(_ count: Int = 1) {
    applied += count
    pending -= count
  }

  /// Counts pending inputs as coalesced.
  public mutating func coalesce(_ count: Int = 1) {
    coalesced += count
    pending -= count
  }

  /// Counts pending inputs as rejected.
  public mutating func reject(_ count: Int = 1) {
    rejected += count
    pending -= count
  }

  /// Counts the effects of a limiter's step on pending inputs.
  public mutating func record<Output>(_ step: Step<Output>) {
    apply(step.applied)
    coalesce(step.coalesced)
  }

  /// Returns the sums of two pipelines' counts. The sums are conserved if both pipelines' counts
  /// are.
  public static func + (left: Self, right: Self) -> Self {
    Self(
      received: left.received + right.received,
      applied: left.applied + right.applied,
      coalesced: left.coalesced + right.coalesced,
      rejected: left.rejected + right.rejected,
      pending: left.pending + right.pending)
  }

  /// Adds another pipeline's counts.
  public static func += (left: inout Self, right: Self) { left = left + right }
}

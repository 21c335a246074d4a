import RateLimiting
import Testing
import Throttling

@Suite struct ThrottlePoliciesTests {
  private func policies(
    _ kind: ThrottledKind, _ change: (inout PolicyDescription) -> Void
  ) throws(ThrottlePolicies.Refusal) -> ThrottlePolicies {
    var description = PolicyDescription(kind.limitClass)
    change(&description)
    var policies = ThrottlePolicies()
    try policies.set(kind, description)
    return policies
  }

  private func refusal(
    _ kind: ThrottledKind, _ change: (inout PolicyDescription) -> Void
  ) -> PolicyDescription.Key? {
    do throws(ThrottlePolicies.Refusal) {
      _ = try policies(kind, change)
      return nil
    } catch {
      return error.key
    }
  }

  @Test(arguments: ThrottledKind.allCases)
  func `an empty description of a throttle keeps the default policy`(kind: ThrottledKind) throws {
    #expect(try policies(kind) { _ in } == ThrottlePolicies())
    let defaultPacing = ThrottlePolicies.defaultPacing(kind)
    let spelled = try policies(kind) {
      $0.interval = defaultPacing.interval
      if kind.limitClass != .progress { $0.maximumStaleness = defaultPacing.maximumStaleness }
    }
    #expect(spelled == ThrottlePolicies())
  }

  @Test(arguments: ThrottledKind.allCases)
  func `a throttle interval without a maximum is never widened`(kind: ThrottledKind) throws {
    let set = try policies(kind) { $0.interval = .seconds(3) }
    #expect(set[kind].interval == .seconds(3))
    #expect(set[kind].maximumStaleness == .seconds(3))
    for other in ThrottledKind.allCases where other != kind {
      #expect(set[other] == ThrottlePolicies.defaultPacing(other))
    }
  }

  @Test(arguments: ThrottledKind.allCases)
  func `an event class other than the class of the throttle is rejected`(kind: ThrottledKind) {
    for other in LimitClass.allCases where other != kind.limitClass {
      #expect(refusal(kind) { $0.limitClass = other } == .limitClass)
    }
  }

  @Test func `the error for a contradictory policy names the key, and no policy changes`() {
    #expect(
      refusal(.chat) {
        $0.interval = .seconds(1)
        $0.maximumStaleness = .milliseconds(1)
      } == .maximumStaleness)
    // The default bound is below this interval, but the user has not contradicted themselves.
    #expect(refusal(.chat) { $0.interval = .seconds(1) } == nil)
    #expect(refusal(.chat) { $0.maximumStaleness = .milliseconds(1) } == .maximumStaleness)
    #expect(refusal(.viewers) { $0.trailing = false } == .trailing)
    #expect(refusal(.viewers) { $0.leading = false } == .leading)
    #expect(refusal(.viewers) { $0.capacity = 9 } == .capacity)
    #expect(refusal(.statistics) { $0.leading = true } == .leading)
    #expect(refusal(.progress) { $0.interval = .milliseconds(10) } == .interval)
    #expect(refusal(.chat) { $0.capacity = 0 } == .capacity)

    var set = ThrottlePolicies()
    let before = set
    #expect(throws: ThrottlePolicies.Refusal.self) {
      try set.set(.chat, PolicyDescription(.summary))
    }
    #expect(set == before)
  }
}

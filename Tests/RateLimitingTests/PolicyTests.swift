import RateLimiting
import Testing

@Suite struct PolicyTests {
  @Test func `consistent descriptions of throttles become policies`() throws {
    #expect(try PolicyDescription(.neverDrop).validated() == .neverDrop)
    let chat = PolicyDescription(.keepAll, interval: .milliseconds(16), capacity: 500)
    guard case .keepAll(let window, 500) = try chat.validated() else {
      Issue.record("the policy has another class")
      return
    }
    #expect(window.interval == .milliseconds(16))
    #expect(
      window.maximumStaleness == window.interval, "without a maximum the interval does not widen")
    let viewers = PolicyDescription(
      .latestWins, interval: .milliseconds(250), maximumStaleness: .seconds(2), trailing: true)
    guard case .latestWins(let window, leading: true, keyCapacity: 4_096) = try viewers.validated()
    else {
      Issue.record("the policy has another class")
      return
    }
    #expect(window.adaptive().maximum == .seconds(2))
    #expect(try PolicyDescription(.progress).validated() == .progress(interval: .seconds(1)))
    let sums = PolicyDescription(.aggregate, interval: .seconds(1))
    #expect(try sums.validated().limitClass == .aggregate)
    let stats = PolicyDescription(.summary, interval: .seconds(1))
    #expect(try stats.validated().limitClass == .summary)
  }

  static let contradictions: [(PolicyDescription, PolicyError)] = [
    (.init(.neverDrop, interval: .seconds(1)), .notApplicable(.interval, .neverDrop)),
    (.init(.neverDrop, capacity: 5), .notApplicable(.capacity, .neverDrop)),
    (.init(.keepAll), .missing(.interval, .keepAll)),
    (.init(.latestWins), .missing(.interval, .latestWins)),
    (.init(.summary), .missing(.interval, .summary)),
    (.init(.aggregate), .missing(.interval, .aggregate)),
    (.init(.summary, interval: .zero), .notPositive(.interval)),
    (.init(.keepAll, interval: .milliseconds(-1)), .notPositive(.interval)),
    (.init(.keepAll, interval: .seconds(1), capacity: 0), .notPositive(.capacity)),
    (
      .init(.keepAll, interval: .seconds(1), capacity: 1_048_577), .capacityTooLarge(1_048_577)
    ),
    (
      .init(.aggregate, interval: .seconds(3_601)),
      .intervalTooLong(.interval, .seconds(3_601))
    ),
    (
      .init(.latestWins, interval: .seconds(1), leading: true, trailing: false), .noTrailingEdge
    ),
    (
      .init(.latestWins, interval: .seconds(1), leading: false, trailing: false), .noTrailingEdge
    ),
    (
      .init(.latestWins, interval: .seconds(2), maximumStaleness: .seconds(1)),
      .stalenessBelowInterval(bound: .seconds(1), interval: .seconds(2))
    ),
    (
      .init(.summary, interval: .seconds(2), maximumStaleness: .zero),
      .notPositive(.maximumStaleness)
    ),
    (.init(.summary, interval: .seconds(2), capacity: 3), .notApplicable(.capacity, .summary)),
    (
      .init(.keepAll, interval: .seconds(2), leading: true), .notApplicable(.leading, .keepAll)
    ),
    (
      .init(.progress, interval: .milliseconds(500)), .progressTooFrequent(.milliseconds(500))
    ),
    (
      .init(.progress, maximumStaleness: .seconds(5)),
      .notApplicable(.maximumStaleness, .progress)
    ),
  ]

  @Test(arguments: contradictions)
  func `contradictory descriptions of throttles are rejected`(
    description: PolicyDescription, error: PolicyError
  ) {
    #expect(throws: error) { try description.validated() }
    #expect(error.description.hasPrefix(error.key.rawValue + ": "))
    #expect(!error.problem.isEmpty && !error.remedy.isEmpty)
  }

  @Test func `an error in a throttle's description names the key, the problem and the remedy`() {
    let error = PolicyError.stalenessBelowInterval(
      bound: .microseconds(1_500), interval: .milliseconds(20))
    #expect(
      "\(error)" == """
        maximum-staleness: 1.500 ms is below the interval of 20 ms; \
        raise maximum-staleness or lower interval
        """)
  }

  @Test func `an unknown class of throttles is rejected with the known names`() throws {
    for limitClass in LimitClass.allCases {
      #expect(try LimitClass(named: limitClass.rawValue) == limitClass)
    }
    let error = #expect(throws: PolicyError.self) { try LimitClass(named: "latest") }
    #expect(error == .unknownClass("latest"))
    #expect(error?.remedy.contains("latest-wins") == true)
  }
}

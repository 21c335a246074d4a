import Gateway
import RateLimiting
import Testing

@Suite struct TakeoverTests {
  private let partition = Partition(number: 7)

  private func next(_ takeovers: inout Takeovers) -> [Partition] {
    takeovers.beginLoading { _ in 1 }.map(\.0)
  }

  @Test func `a partition is not loaded twice at the same time, even if its lease was lost`() {
    var takeovers = Takeovers()
    takeovers.begin(partition)
    #expect(next(&takeovers) == [partition])
    takeovers.end(partition)
    takeovers.begin(partition)
    #expect(next(&takeovers).isEmpty)
    var isWaiting = [takeovers.endLoading(partition)]
    #expect(next(&takeovers) == [partition])
    takeovers.end(partition)
    isWaiting.append(takeovers.endLoading(partition))
    #expect(isWaiting == [true, false])
  }

  @Test func `a partition that cannot be loaded yet keeps waiting`() {
    var takeovers = Takeovers()
    takeovers.begin(partition)
    let loaded = takeovers.beginLoading { _ in nil }
    #expect(loaded.isEmpty)
    #expect(next(&takeovers) == [partition])
  }

  @Test func `a partition that has been loaded catches up exactly once`() {
    var takeovers = Takeovers()
    takeovers.begin(partition)
    _ = next(&takeovers)
    var current = [takeovers.catchUp { _ in true }]
    _ = takeovers.endLoading(partition)
    takeovers.beginReading(partition)
    for answer in [false, true, true] { current.append(takeovers.catchUp { _ in answer }) }
    #expect(current == [[], [], [partition], []])
  }

  @Test func `four failed loads in a row are reported, and a new daemon resets the count`() {
    var takeovers = Takeovers()
    takeovers.begin(partition)
    for _ in 0..<3 { takeovers.fail(partition, "no answer") }
    #expect(takeovers.problems.isEmpty)
    takeovers.fail(partition, "no answer")
    #expect(takeovers.problems.map(\.kind) == ["partition 7"])
    takeovers.beginAnew([partition])
    #expect(takeovers.problems.isEmpty)
  }

  @Test(arguments: [true, false])
  func `a restarted partition is loaded after its rooms were closed, if its lease is held`(
    isHeld: Bool
  ) {
    var takeovers = Takeovers()
    takeovers.begin(partition)
    _ = next(&takeovers)
    _ = takeovers.endLoading(partition)
    takeovers.beginReading(partition)
    let now = Instant.origin + .seconds(100)
    var isRestarted = [takeovers.restart(partition, at: now, every: .seconds(30))]
    isRestarted.append(takeovers.restart(partition, at: now + .seconds(60), every: .seconds(30)))
    // The daemon comes back meanwhile.
    if isHeld { takeovers.beginAnew([partition]) }
    #expect(next(&takeovers).isEmpty)
    takeovers.endRestart(partition, isHeld: isHeld)
    #expect(next(&takeovers) == (isHeld ? [partition] : []))
    for seconds: Int64 in [29, 30] {
      isRestarted.append(
        takeovers.restart(partition, at: now + .seconds(seconds), every: .seconds(30)))
    }
    #expect(isRestarted == [true, false, false, true])
  }
}

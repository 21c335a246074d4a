import Gateway
import RateLimiting
import Testing

@Suite struct CopyReleaseTests {
  private let partition = Partition(number: 7)

  /// Returns copies whose partition another node has owned since the origin of time.
  private func due() -> CopyRelease {
    var copies = CopyRelease(interval: .seconds(60))
    copies.update(at: .origin) { $0 == partition }
    return copies
  }

  @Test
  func `a node closes its copies of rooms two intervals after another node got their partition`() {
    let closed = [119, 120].map { (seconds: Int64) in
      var copies = due()
      return copies.begin(at: .origin + .seconds(seconds))
    }
    #expect(closed == [[], [partition]])
  }

  @Test func `if a partition returns while its copies are being closed, no further copy is closed`()
  {
    var copies = due()
    _ = copies.begin(at: .origin + .seconds(120))
    var mayClose = [copies.mayClose(partition)]
    copies.update(at: .origin + .seconds(121)) { _ in false }
    // The node must not load the partition until the closing has asked for its next room.
    var isClosing = [copies.isClosing(partition)]
    mayClose.append(copies.mayClose(partition))
    isClosing.append(copies.isClosing(partition))
    #expect(mayClose == [true, false])
    #expect(isClosing == [true, false])
  }

  @Test func `copies are not closed again before the previous closing has ended`() {
    var copies = due()
    _ = copies.begin(at: .origin + .seconds(120))
    copies.update(at: .origin + .seconds(121)) { _ in false }
    _ = copies.mayClose(partition)
    copies.update(at: .origin + .seconds(122)) { $0 == partition }
    var begun = [copies.begin(at: .origin + .seconds(300))]
    copies.end()
    begun.append(copies.begin(at: .origin + .seconds(300)))
    #expect(begun == [[], [partition]])
  }
}

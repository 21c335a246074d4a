import Gateway
import RateLimiting
import Testing

@Suite struct CopyReleaseTests {
  private let partition = Partition(number: 7)

  /// After another node has had the partition for long enough.
  private func due() -> CopyRelease {
    var copies = CopyRelease(interval: .seconds(60))
    copies.update(at: .origin) { $0 == partition }
    return copies
  }

  @Test func `copies are closed once another node has had their partition for two intervals`() {
    let closed = [119, 120].map { (seconds: Int64) in
      var copies = due()
      return copies.begin(at: .origin + .seconds(seconds))
    }
    #expect(closed == [[], [partition]])
  }

  @Test func `a partition that comes back while its copies are closed loses no further room`() {
    var copies = due()
    _ = copies.begin(at: .origin + .seconds(120))
    var mayClose = [copies.mayClose(partition)]
    copies.update(at: .origin + .seconds(121)) { _ in false }
    // The node may not load the partition before the closing asks for its next room.
    var isClosing = [copies.isClosing(partition)]
    mayClose.append(copies.mayClose(partition))
    isClosing.append(copies.isClosing(partition))
    #expect(mayClose == [true, false])
    #expect(isClosing == [true, false])
  }

  @Test func `a closing ends before the next one begins, even if every partition came back`() {
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

import LiveEvents
import Rooms
import Testing

@Suite struct RejectionDigestTests {
  private typealias Sum = RejectionDigest.Sum
  private let main = RoomName("main")
  private let side = RoomName("side")
  private let interval = RejectionDigest.interval

  @Test
  func
    `the first rejection for a reason is reported immediately, later ones as one sum per interval`()
  {
    var digest = RejectionDigest()
    #expect(
      digest.add(.malformedJSON, count: 2, room: main, now: 1)
        == Sum(.malformedJSON, count: 2, room: main))
    #expect(digest.add(.malformedJSON, count: 1, room: main, now: 2) == nil)
    #expect(digest.add(.malformedJSON, count: 5, room: main, now: interval) == nil)
    #expect(digest.nextDue == 1 + interval)
    #expect(digest.removeDue(now: interval) == [])
    #expect(digest.removeDue(now: 1 + interval) == [Sum(.malformedJSON, count: 6, room: main)])
    // The flood continues: still one sum per interval.
    #expect(digest.add(.malformedJSON, count: 3, room: main, now: 2 + interval) == nil)
    #expect(digest.removeDue(now: 1 + 2 * interval) == [Sum(.malformedJSON, count: 3, room: main)])
    // The flood has ended: after an interval without rejections, the next one is reported
    // immediately.
    #expect(digest.removeDue(now: 1 + 3 * interval) == [])
    #expect(digest.nextDue == nil)
    #expect(digest.add(.malformedJSON, count: 1, room: nil, now: 2 + 3 * interval) != nil)
  }

  @Test func `each reason for rejections has its own interval, and a sum over rooms names no room`()
  {
    var digest = RejectionDigest()
    #expect(digest.add(.unknownType, count: 1, room: main, now: 0)?.room == main)
    #expect(digest.add(.lineTooLong, count: 1, room: nil, now: 5) != nil)
    #expect(digest.add(.unknownType, count: 1, room: main, now: 6) == nil)
    #expect(digest.add(.unknownType, count: 1, room: side, now: 7) == nil)
    #expect(digest.add(.lineTooLong, count: 4, room: side, now: 8) == nil)
    #expect(
      digest.removeDue(now: 9, flushing: true)
        == [Sum(.unknownType, count: 2, room: nil), Sum(.lineTooLong, count: 4, room: side)])
    #expect(digest.removeDue(now: 9, flushing: true) == [])
  }

  @Test func `the summary of rejections describes the error of its first line`() {
    var digest = RejectionDigest()
    #expect(
      digest.add(.missingMember, count: 1, room: main, fault: "'a'", now: 0)?.fault == "'a'")
    #expect(digest.add(.missingMember, count: 1, room: main, fault: "'b'", now: 1) == nil)
    #expect(digest.add(.missingMember, count: 1, room: main, fault: "'c'", now: 2) == nil)
    #expect(digest.removeDue(now: interval).map(\.fault) == ["'b'"])
  }

  @Test(
    arguments: [
      RejectionReason.protocolLine, .duplicate, .roomClosed,
    ])
  func `rejections that are part of normal operation are not logged`(reason: RejectionReason) {
    var digest = RejectionDigest()
    #expect(digest.add(reason, count: 9, room: main, now: 0) == nil)
    #expect(digest.nextDue == nil)
    #expect(digest.add(.invalidValue, count: 0, room: main, now: 0) == nil)
  }
}

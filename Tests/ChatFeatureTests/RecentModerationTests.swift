import ChatFeature
import LiveEvents
import Testing

@Suite struct RecentModerationTests {
  @Test func `the newest moderations are remembered, and their number is limited`() {
    var moderation = RecentModeration()
    let many = RecentModeration.capacity * 5 / 2
    for index in 0..<many { moderation.recordTimeout(of: Text("user\(index)"), at: 1_000) }
    for index in (many - RecentModeration.capacity)..<many {
      #expect(moderation.hides(message(0, by: "user\(index)", at: 999).message, at: 999))
    }
    #expect(!moderation.hides(message(0, by: "user0", at: 999).message, at: 999))
  }

  @Test func `an earlier time-out that arrives late does not replace a later one`() {
    var moderation = RecentModeration()
    moderation.recordTimeout(of: "ann", at: 2_000)
    moderation.recordTimeout(of: "ann", at: 1_000)
    #expect(moderation.hides(message(0, at: 1_500).message, at: 1_500))
  }

  @Test func `a clear does not hide a message that is too much older than the clear`() {
    var moderation = RecentModeration()
    moderation.recordClear(at: 100_000)
    let edge = 100_000 - RecentModeration.reach
    #expect(moderation.hides(message(0, at: edge).message, at: edge))
    #expect(!moderation.hides(message(0, at: edge - 1).message, at: edge - 1))
  }

  @Test
  func `a deleted message stays hidden if its timestamp is only slightly after the deletion`() {
    var moderation = RecentModeration()
    moderation.recordDeletion(of: "m7", at: 100_000)
    let late = 100_000 + RecentModeration.reach
    for time: Timestamp in [0, 100_000, late] {
      #expect(moderation.hides(message(7, at: time).message, at: time))
      #expect(!moderation.hides(message(8, at: time).message, at: time))
    }
    #expect(!moderation.hides(message(7, at: late + 1).message, at: late + 1))
  }

  @Test func `a message written in the same millisecond as a clear is not hidden`() {
    var moderation = RecentModeration()
    moderation.recordClear(at: 2_000)
    moderation.recordTimeout(of: "bob", at: 3_000)
    #expect(!moderation.hides(message(0, at: 2_000).message, at: 2_000))
    #expect(moderation.hides(message(0, at: 1_999).message, at: 1_999))
  }
}

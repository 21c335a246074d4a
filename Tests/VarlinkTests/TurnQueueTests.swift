import Testing
import Varlink

@Suite struct TurnQueueTests {
  /// Makes a queue whose turn is taken and for which several connections wait.
  private func queue(_ waiting: [(id: Int, user: UInt32)]) -> TurnQueue<Int, String> {
    var queue = TurnQueue<Int, String>()
    let taken = ([(0, 1)] + waiting).map { id, user in
      queue.acquire("\(id) of \(user)", as: id, of: user)
    }
    #expect(taken == [true] + waiting.map { _ in false })
    return queue
  }

  @Test func `waiting calls of different users run round-robin`() {
    var queue = queue([(1, 7), (2, 7), (3, 8)])
    let turns = (0..<4).map { _ in queue.next() }
    #expect(turns == ["1 of 7", "3 of 8", "2 of 7", nil])
    let isFree = queue.acquire("next", as: 4, of: 7)
    #expect(isFree)
  }

  @Test func `a waiting call that is cancelled does not block the others`() {
    var queue = queue([(1, 7), (2, 7), (3, 8), (4, 9)])
    for (id, user) in [(1, 7), (3, 8), (3, 8), (5, 10)] as [(Int, UInt32)] {
      queue.leave(id, of: user)
    }
    let turns = (0..<3).map { _ in queue.next() }
    #expect(turns == ["2 of 7", "4 of 9", nil])
  }
}

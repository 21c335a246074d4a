/// How far the log of a room has each sender's batches, now and as of any message that was read lately.
///
/// Senders choose their names, and those of another run have another one, so only the newest are remembered.
package struct SenderPositions: Sendable {
  package struct Position: Sendable, Equatable {
    /// The highest number of a batch.
    package var batch: Int
    /// The sequence of its message in the log.
    package var message: UInt64

    package init(batch: Int, message: UInt64) { (self.batch, self.message) = (batch, message) }
  }

  private struct Change: Sendable {
    let message: UInt64
    let sender: String
    let before: Position?
    /// The code of the message's last part.
    let last: Int
  }

  /// How many senders a snapshot names at most.
  static let maximum = 1024

  private var newest: [String: Position]
  private var changes: [Change] = []

  init(_ positions: [String: Position] = [:]) { newest = positions }

  /// Notes a batch. `false` if the log had it before.
  mutating func record(_ batch: Int, of sender: String, message: UInt64, last: Int) -> Bool {
    let before = newest[sender]
    if let before, before.batch >= batch { return false }
    changes.append(Change(message: message, sender: sender, before: before, last: last))
    newest[sender] = Position(batch: batch, message: message)
    if newest.count > 2 * Self.maximum { newest = Self.newest(of: newest) }
    return true
  }

  /// The positions as they were before a message, and all behind it, were read.
  func positions(before message: UInt64) -> [String: Position] {
    var positions = newest
    for change in changes.reversed() where change.message >= message {
      positions[change.sender] = change.before
    }
    return Self.newest(of: positions)
  }

  /// The code of the last part of a message, if it was read lately.
  func lastPart(of message: UInt64) -> Int? {
    changes.last { $0.message == message }?.last
  }

  /// Forgets what was before a message.
  mutating func forgetChanges(before message: UInt64) {
    let count = changes.prefix { $0.message < message }.count
    if count > 0 { changes.removeFirst(count) }
  }

  private static func newest(of positions: [String: Position]) -> [String: Position] {
    guard positions.count > maximum else { return positions }
    let sorted = positions.sorted { $0.value.message > $1.value.message }.prefix(maximum)
    return Dictionary(uniqueKeysWithValues: sorted.map { ($0.key, $0.value) })
  }
}

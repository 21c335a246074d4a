/// The newest batch of each sender in the log of a room: at present, and as it was before each
/// recently read message.
///
/// Only the newest senders are kept, because a sender chooses its own name and may use a new name
/// for each run.
package struct SenderPositions: Sendable {
  package struct Position: Sendable, Equatable {
    /// The highest batch number.
    package var batch: Int
    /// The sequence of the batch's message in the log.
    package var message: UInt64

    package init(batch: Int, message: UInt64) { (self.batch, self.message) = (batch, message) }
  }

  private struct Change: Sendable {
    let message: UInt64
    let sender: String
    let before: Position?
    /// The code of the last part of the message.
    let last: Int
  }

  /// The maximum number of senders in a snapshot.
  static let maximum = 1024

  private var newest: [String: Position]
  private var changes: [Change] = []

  init(_ positions: [String: Position] = [:]) { newest = positions }

  /// Records a batch. Returns `false` if the log contained it before.
  mutating func record(_ batch: Int, of sender: String, message: UInt64, last: Int) -> Bool {
    let before = newest[sender]
    if let before, before.batch >= batch { return false }
    changes.append(Change(message: message, sender: sender, before: before, last: last))
    newest[sender] = Position(batch: batch, message: message)
    if newest.count > 2 * Self.maximum { newest = Self.newest(of: newest) }
    return true
  }

  /// Returns the positions as they were before a message was read.
  func positions(before message: UInt64) -> [String: Position] {
    var positions = newest
    for change in changes.reversed() where change.message >= message {
      positions[change.sender] = change.before
    }
    return Self.newest(of: positions)
  }

  /// Returns the code of the last part of a message; `nil` if it was not read recently.
  func lastPart(of message: UInt64) -> Int? {
    changes.last { $0.message == message }?.last
  }

  /// Forgets the changes by messages before `message`.
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

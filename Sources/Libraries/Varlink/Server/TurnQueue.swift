/// Grants turns for calls: one at a time and round-robin among users, regardless of the number of
/// connections per user. A value without lock or clock.
package struct TurnQueue<ID: Equatable, Waiter> {
  private var isTaken = false
  /// The waiting connections, by user.
  private var waiting: [UInt32?: [(id: ID, waiter: Waiter)]] = [:]
  /// The users with waiting connections, the next one first.
  private var users: [UInt32?] = []

  package init() {}

  /// Acquires the turn if it is free; otherwise adds the waiter, which ``next()`` returns when it
  /// gets the turn.
  package mutating func acquire(_ waiter: Waiter, as id: ID, of user: UInt32?) -> Bool {
    guard isTaken else {
      isTaken = true
      return true
    }
    if waiting[user, default: []].isEmpty { users.append(user) }
    waiting[user, default: []].append((id, waiter))
    return false
  }

  /// Removes a waiter. A closed connection would otherwise keep its place and block the connections
  /// after it.
  ///
  /// - Complexity: O(n) in the number of waiters of a user.
  package mutating func leave(_ id: ID, of user: UInt32?) {
    waiting[user]?.removeAll { $0.id == id }
    guard waiting[user]?.isEmpty == true else { return }
    waiting[user] = nil
    users.removeAll { $0 == user }
  }

  /// Ends the current turn. Returns the waiter that gets the turn, or nil if none is waiting.
  ///
  /// - Complexity: O(n) in the number of waiters of a user.
  package mutating func next() -> Waiter? {
    guard !users.isEmpty else {
      isTaken = false
      return nil
    }
    let user = users.removeFirst()
    let waiter = waiting[user]?.removeFirst().waiter
    if waiting[user]?.isEmpty == false { users.append(user) } else { waiting[user] = nil }
    return waiter
  }
}

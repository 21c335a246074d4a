/// Whose call is next: one at a time, users in turn, however many connections each of them has. A value
/// without lock or clock.
package struct TurnQueue<ID: Equatable, Waiter> {
  private var isTaken = false
  /// Those who wait, by user.
  private var waiting: [UInt32?: [(id: ID, waiter: Waiter)]] = [:]
  /// The users who wait, the next one first.
  private var users: [UInt32?] = []

  package init() {}

  /// Takes the turn if it is free. If not, ``next()`` gives the waiter once it is his.
  package mutating func take(_ waiter: Waiter, as id: ID, of user: UInt32?) -> Bool {
    guard isTaken else {
      isTaken = true
      return true
    }
    if waiting[user, default: []].isEmpty { users.append(user) }
    waiting[user, default: []].append((id, waiter))
    return false
  }

  /// Waits no more. Whoever went without this would keep his place, and those behind him waiting.
  ///
  /// - Complexity: O(waiters of a user).
  package mutating func leave(_ id: ID, of user: UInt32?) {
    waiting[user]?.removeAll { $0.id == id }
    guard waiting[user]?.isEmpty == true else { return }
    waiting[user] = nil
    users.removeAll { $0 == user }
  }

  /// Ends the present turn. Returns the one who has it now; nil if nobody waits.
  ///
  /// - Complexity: O(waiters of a user).
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

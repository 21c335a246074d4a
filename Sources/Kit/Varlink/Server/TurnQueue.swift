/// Whose call is next: one at a time, users in turn, however many connections each of them has. A value
/// without lock or clock.
struct TurnQueue<Waiter> {
  private var isTaken = false
  /// Those who wait, by user.
  private var waiting: [UInt32?: [Waiter]] = [:]
  /// The users who wait, the next one first.
  private var users: [UInt32?] = []

  /// Takes the turn if it is free. If not, ``next()`` gives the waiter once it is his.
  mutating func take(_ waiter: Waiter, of user: UInt32?) -> Bool {
    guard isTaken else {
      isTaken = true
      return true
    }
    if waiting[user, default: []].isEmpty { users.append(user) }
    waiting[user, default: []].append(waiter)
    return false
  }

  /// Ends the present turn. Returns the one who has it now; nil if nobody waits.
  ///
  /// - Complexity: O(waiters of a user).
  mutating func next() -> Waiter? {
    guard !users.isEmpty else {
      isTaken = false
      return nil
    }
    let user = users.removeFirst()
    let waiter = waiting[user]?.removeFirst()
    if waiting[user]?.isEmpty == false { users.append(user) } else { waiting[user] = nil }
    return waiter
  }
}

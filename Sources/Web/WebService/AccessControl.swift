import SystemSupport

/// What a token grants.
package struct GrantedAccess: Sendable, Equatable {
  package let role: PageRole
  /// The person to whom the token was given; nil for the links that the program prints.
  package let person: InvitedPerson?

  package init(role: PageRole, person: InvitedPerson? = nil) {
    (self.role, self.person) = (role, person)
  }
}

/// Decides what the bearers of tokens may do. Callable from any thread.
package struct AccessControl: Sendable {
  private let tokens: Tokens
  private let people: CurrentPeople?
  private let now: @Sendable () -> Int

  /// - Parameter now: returns the time in milliseconds since 1970.
  package init(
    _ tokens: Tokens, _ people: CurrentPeople?,
    now: @escaping @Sendable () -> Int = { WallClock.milliseconds() }
  ) {
    (self.tokens, self.people, self.now) = (tokens, people, now)
  }

  /// Returns what `token` grants; nil if nothing.
  package func access(_ token: String?) -> GrantedAccess? {
    guard let token else { return nil }
    if let role = tokens.role(of: token) { return GrantedAccess(role: role) }
    // Only texts with the length of a token are hashed, so that a long text cannot cost more time.
    guard token.utf8.count == Tokens.length,
      let person = people?.list.person(withToken: token, at: now())
    else { return nil }
    return GrantedAccess(role: person.role, person: person)
  }

  /// Returns what a token in an address grants. Addresses are stored in histories and in logs of
  /// proxies, so only the token for overlays is accepted there.
  package func access(inAddress token: String?) -> GrantedAccess? {
    tokens.role(of: token) == .viewer ? GrantedAccess(role: .viewer) : nil
  }

  /// Returns whether a token that granted `access` still grants the same. Open streams use it,
  /// because a person can lose access at any time.
  package func isValid(_ access: GrantedAccess?) -> Bool {
    guard let access else { return false }
    guard let person = access.person else { return true }
    return !person.hasExpired(at: now()) && people?.list.people.contains(person) == true
  }
}

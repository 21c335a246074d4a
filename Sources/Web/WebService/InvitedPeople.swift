/// The people who have personal links, and the changes to this list.
package struct InvitedPeople: Sendable, Equatable {
  package private(set) var people: [InvitedPerson] = []

  package static let limit = 256

  package enum Fault: Error, Equatable, CustomStringConvertible {
    case invalidName
    case exists(String)
    case unknown(String)
    case expired
    case full
    case damaged

    package var description: String {
      switch self {
      case .invalidName:
        "a name is one line of 1 to 64 visible characters, without spaces at its ends"
      case .exists(let name):
        "\(name) has a link already; 'livehostctl web people rotate' makes a new one"
      case .unknown(let name):
        "\(name) has no link; 'livehostctl web people' lists the people"
      case .expired: "the time of expiry is in the past"
      case .full:
        "\(InvitedPeople.limit) people have links already; revoke the link of one of them"
      case .damaged: "the list of people is damaged"
      }
    }
  }

  package init() {}

  /// Checks a list that was read from a file.
  init(checking people: [InvitedPerson]) throws(Fault) {
    let isValid = people.allSatisfy {
      InvitedPerson.isValid(name: $0.name) && $0.hash.utf8.count == Tokens.length
        && $0.hash.allSatisfy(\.isHexDigit)
    }
    guard isValid, people.count <= Self.limit,
      Set(people.map { Self.key($0.name) }).count == people.count,
      Set(people.map(\.hash)).count == people.count
    else { throw .damaged }
    self.people = people
  }

  /// Adds a person; returns the token, which is stored nowhere.
  package mutating func add(
    _ name: String, role: PageRole, expires: Int? = nil, now: Int
  ) throws(Fault) -> String {
    guard InvitedPerson.isValid(name: name) else { throw .invalidName }
    if let known = person(named: name) { throw .exists(known.name) }
    guard people.count < Self.limit else { throw .full }
    if let expires, expires <= now { throw .expired }
    let token = Tokens.random()
    people.append(
      InvitedPerson(
        name: name, role: role, hash: Tokens.hash(of: token), created: now, rotated: now,
        expires: expires))
    return token
  }

  /// Replaces the token of a person; returns the new one. The role and the expiry change only if
  /// new ones are given.
  package mutating func rotate(
    _ name: String, role: PageRole? = nil, expires: Int?? = nil, now: Int
  ) throws(Fault) -> String {
    let index = try index(of: name)
    let expiry = expires ?? people[index].expires
    if let expiry, expiry <= now { throw .expired }
    let token = Tokens.random()
    people[index].role = role ?? people[index].role
    people[index].expires = expiry
    people[index].hash = Tokens.hash(of: token)
    people[index].rotated = now
    return token
  }

  /// Removes a person, whose link becomes invalid.
  package mutating func revoke(_ name: String) throws(Fault) {
    people.remove(at: try index(of: name))
  }

  /// Returns the person to whom a token was given, unless the link has expired.
  ///
  /// The duration of the comparison depends on the hash of `token`. An attacker learns nothing
  /// useful from it, because a token cannot be derived from its hash.
  package func person(withToken token: String, at now: Int) -> InvitedPerson? {
    guard !people.isEmpty else { return nil }
    let hash = Tokens.hash(of: token)
    return people.first { $0.hash == hash && !$0.hasExpired(at: now) }
  }

  package func person(named name: String) -> InvitedPerson? {
    people.first { Self.key($0.name) == Self.key(name) }
  }

  private func index(of name: String) throws(Fault) -> Int {
    guard let index = people.firstIndex(where: { Self.key($0.name) == Self.key(name) }) else {
      throw .unknown(name)
    }
    return index
  }

  /// Two people whose names differ only in case would be hard to tell apart.
  private static func key(_ name: String) -> String { name.lowercased() }
}

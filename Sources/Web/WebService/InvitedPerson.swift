/// A person who has a personal link to the page.
package struct InvitedPerson: Sendable, Equatable, Codable {
  package let name: String
  package internal(set) var role: PageRole
  /// The hash of the token, in hexadecimal digits.
  package internal(set) var hash: String
  /// The time of the invitation, in milliseconds since 1970.
  package let created: Int
  /// The time when the current token was made, in milliseconds since 1970.
  package internal(set) var rotated: Int
  /// The time after which the link is invalid, in milliseconds since 1970; nil if there is none.
  package internal(set) var expires: Int?

  package func hasExpired(at now: Int) -> Bool { expires.map { $0 <= now } ?? false }

  /// Returns whether a text can be a name. Names appear in the chat's acts and in the journal, so
  /// they are one short line without characters that are invisible or change the direction of
  /// writing.
  package static func isValid(name: String) -> Bool {
    (1...64).contains(name.unicodeScalars.count) && name.first != " " && name.last != " "
      && name.unicodeScalars.allSatisfy { scalar in
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator,
          .paragraphSeparator:
          false
        case .spaceSeparator: scalar == " "
        default: true
        }
      }
  }
}

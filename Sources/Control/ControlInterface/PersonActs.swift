import LiveEvents
import Varlink

// The methods for a person's card and the host's notes about people.

extension ControlInterface {
  static func addPersonActs(
    to interface: inout Interface, _ service: some HostActService
  ) throws(RegistrationError) {
    try interface.handle("ShowPerson") { (_, parameters: ShowPersonParameters) in
      let person = try await person(
        parameters.number, parameters.user, parameters.platform, in: parameters.room, service)
      return try await service.act(.chat(.openPerson(person)), in: parameters.room)
    }
    try interface.handle("NotePerson") { (_, parameters: NotePersonParameters) in
      let person = try await person(
        parameters.number, parameters.user, parameters.platform, in: parameters.room, service)
      guard let person else { throw ServiceError.invalidParameter("user") }
      guard let note = PersonNote(about: person, Text(parameters.text)) else {
        throw ServiceError.invalidParameter("text")
      }
      return try await service.act(.chat(.notePerson(note)), in: parameters.room)
    }
  }

  /// Returns the person with an identifier, or the author of a message; `nil` if neither is given.
  /// The number of a message selects its author and its platform, so it cannot be combined with the
  /// parameters for these.
  private static func person(
    _ number: Int?, _ user: String?, _ platform: String?, in room: String,
    _ service: some HostActService
  ) async throws -> PersonReference? {
    let user: Text? = try checked(user, "user")
    let platform: Text? = try checked(platform, "platform")
    if let number {
      guard user == nil, platform == nil else { throw ServiceError.invalidParameter("number") }
      let found = try await message(number, in: room, service)
      return PersonReference(id: found.author.id, platform: found.platform)
    }
    guard let user else {
      guard platform == nil else { throw ServiceError.invalidParameter("platform") }
      return nil
    }
    return PersonReference(id: user, platform: platform)
  }
}

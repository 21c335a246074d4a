import ArgumentParser
import Glibc
import JSON
import ProgramArguments
import SystemSupport
import WebService
import Wording

/// Lists and changes the people with personal links.
struct PeopleCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "people", abstract: "List, invite and remove people with personal links.",
    discussion: "See 'livehostctl web people --help'.")

  @OptionGroup var arguments: WebPeopleArguments
  @OptionGroup var output: CommandOutput

  private var file: PeopleFile {
    PeopleFile(path: arguments.file ?? PeopleFile.defaultPath())
  }

  func validate() throws {
    if let url = arguments.url, PublicAddress(url) == nil {
      throw ValidationError(
        "--url must be an address such as https://page.example, without a path")
    }
  }

  func run() throws {
    try output.reporting {
      let now = WallClock.milliseconds()
      let name = arguments.name ?? ""
      let role = arguments.role.flatMap { PageRole(rawValue: $0) }
      switch arguments.action {
      case .list:
        let people = try file.read().people
        output.print(.array(people.map { report($0, now) }), table(people, now))
      case .add:
        show(
          name,
          try change {
            try $0.add(name, role: role ?? .viewer, expires: arguments.expiry ?? nil, now: now)
          })
      case .rotate:
        show(
          name, try change { try $0.rotate(name, role: role, expires: arguments.expiry, now: now) })
      case .revoke:
        _ = try change { try $0.revoke(name) }
        output.print([:], "\(name) has no access any more\n")
      }
    }
  }

  /// Changes the list; returns the result and the new list.
  private func change<R>(
    _ body: (inout InvitedPeople) throws -> R
  ) throws -> (R, InvitedPeople) {
    if arguments.file == nil, geteuid() != 0 { makeDirectory() }
    return try file.change { people in (try body(&people), people) }
  }

  private func show(_ name: String, _ result: (token: String, people: InvitedPeople)) {
    guard let person = result.people.person(named: name) else { return }
    let link = "\(base)/#t=\(result.token)"
    let until = person.expires.map { ", valid until \(Format.time(milliseconds: $0))" } ?? ""
    var text = "\(link)\nfor \(person.name), \(person.role.rawValue)\(until); shown only now\n"
    if arguments.qr { text += CommandOutput.code(link) }
    output.print(
      [
        "name": .string(person.name), "role": .string(person.role.rawValue),
        "expires": person.expires.map { .integer(Int64($0)) } ?? .null, "link": .string(link),
      ], text)
  }

  /// The address of the page: from the option, from the service whose people are changed, or the
  /// default of `livehostctl web`.
  private var base: String {
    if let url = arguments.url.flatMap({ PublicAddress($0) }) { return url.text }
    let service = file.path == PeopleFile.servicePath ? try? PageLinks.ofService() : nil
    return service?.base ?? "http://127.0.0.1:8317"
  }

  private func report(_ person: InvitedPerson, _ now: Int) -> JSONValue {
    [
      "name": .string(person.name), "role": .string(person.role.rawValue),
      "created": .integer(Int64(person.created)), "rotated": .integer(Int64(person.rotated)),
      "expires": person.expires.map { .integer(Int64($0)) } ?? .null,
      "expired": .bool(person.hasExpired(at: now)),
    ]
  }

  private func table(_ people: [InvitedPerson], _ now: Int) -> String {
    if people.isEmpty { return "nobody has a personal link\n" }
    let width = max(6, people.map(\.name.count).max() ?? 0)
    func line(_ cells: [String]) -> String {
      let name = cells[0] + String(repeating: " ", count: max(0, width - cells[0].count))
      let role = cells[1] + String(repeating: " ", count: max(0, 9 - cells[1].count))
      return "\(name)  \(role)  \(cells[2])  \(cells[3])\n"
    }
    // The header's third column is as wide as a time: 23 characters.
    let head = line(["PERSON", "ROLE", "LINK MADE              ", "VALID UNTIL"])
    return people.reduce(into: head) { text, person in
      let until = person.expires.map { Format.time(milliseconds: $0) } ?? "-"
      text += line([
        person.name, person.role.rawValue, Format.time(milliseconds: person.rotated),
        until + (person.hasExpired(at: now) ? " (expired)" : ""),
      ])
    }
  }

  /// Creates the directory of the user's own file.
  private func makeDirectory() {
    var path = ""
    for part in file.path.split(separator: "/").dropLast() {
      path += "/\(part)"
      mkdir(path, 0o700)
    }
  }
}

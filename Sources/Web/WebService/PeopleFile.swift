import Glibc
import JSON

/// The file that stores the people with personal links.
package struct PeopleFile: Sendable {
  package let path: String

  package init(path: String) { self.path = path }

  /// The file of the service.
  package static let servicePath = "/var/lib/livehost-web/people"

  /// Returns the default path: the service's file for root, otherwise a file of the user.
  package static func defaultPath(
    userID: UInt32 = geteuid(),
    _ variable: (String) -> String? = { name in
      getenv(name).map { String(cString: $0) }
    }
  ) -> String {
    if userID == 0 { return servicePath }
    let state = variable("XDG_STATE_HOME").flatMap { $0.hasPrefix("/") ? $0 : nil }
    return "\(state ?? "\(variable("HOME") ?? "")/.local/state")/livehost/people"
  }

  /// Reads the list; a missing file is an empty list.
  package func read() throws(PrivateFileFailure) -> InvitedPeople {
    let bytes = try PrivateFile.read(
      path, limit: 256 << 10, allowedMode: 0o600,
      remedy: "accessible to other users; run: chmod 600 \(path)")
    guard let bytes else { return InvitedPeople() }
    do {
      let value = try JSONValue(parsing: String(decoding: bytes, as: UTF8.self))
      return try InvitedPeople(
        checking: (value["people"] ?? .null).decode([InvitedPerson].self))
    } catch {
      throw PrivateFileFailure(
        path, problem: "not a list of people; remove the file to begin with an empty list")
    }
  }

  /// Reads the list, changes it and writes it. Locks the directory, so that no concurrent change is
  /// lost.
  package func change<R>(_ body: (inout InvitedPeople) throws -> R) throws -> R {
    let directory = PrivateFile.directory(of: path)
    let lock = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard lock >= 0 else {
      guard errno == ENOENT, path == Self.servicePath else {
        throw PrivateFileFailure(directory, errno)
      }
      throw PrivateFileFailure(
        directory,
        problem: "does not exist; start the service first: systemctl enable --now livehost-web")
    }
    defer { close(lock) }
    while flock(lock, LOCK_EX) != 0 {
      guard errno == EINTR else { throw PrivateFileFailure(directory, errno) }
    }
    var people = try read()
    let result = try body(&people)
    let value: JSONValue = ["people": try JSONValue(encoding: people.people)]
    try PrivateFile.write(path, Array(value.serialized()) + [10])
    return result
  }
}

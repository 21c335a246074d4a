import Foundation
import Locking
import SystemSupport
import TestSupport
import Testing
import WebService

@Suite struct InvitedPeopleTests {
  private var people = InvitedPeople()

  @Test mutating func `a person's token grants the role, and any other token grants nothing`()
    throws
  {
    let token = try people.add("Ada", role: .moderator, now: 1_000)
    let other = try people.add("Grace", role: .viewer, now: 1_000)
    #expect(token.utf8.count == 64 && token != other)
    let person = try #require(people.person(withToken: token, at: 2_000))
    #expect(person.name == "Ada" && person.role == .moderator && person.created == 1_000)
    #expect(person.hash != token, "only a hash is stored")
    for wrong in ["", String(token.dropLast()), token + "0", person.hash, token.uppercased()] {
      #expect(people.person(withToken: wrong, at: 2_000) == nil, "\(wrong)")
    }
  }

  @Test mutating func `a link is valid until it expires`() throws {
    let token = try people.add("Ada", role: .host, expires: 5_000, now: 1_000)
    #expect(people.person(withToken: token, at: 4_999) != nil)
    #expect(people.person(withToken: token, at: 5_000) == nil)
    #expect(throws: InvitedPeople.Fault.expired) {
      try people.add("Grace", role: .host, expires: 1_000, now: 1_000)
    }
  }

  @Test mutating func `after a rotation, only the new token is valid`() throws {
    let old = try people.add("Ada", role: .moderator, expires: 9_000, now: 1_000)
    let new = try people.rotate("Ada", now: 2_000)
    #expect(people.person(withToken: old, at: 3_000) == nil)
    let person = try #require(people.person(withToken: new, at: 3_000))
    #expect(person.created == 1_000 && person.rotated == 2_000)
    #expect(person.role == .moderator && person.expires == 9_000, "both stay")
    let last = try people.rotate("Ada", role: .viewer, expires: .some(nil), now: 10_000)
    #expect(people.person(withToken: last, at: 11_000)?.role == .viewer)
  }

  @Test mutating func `an expired link cannot be replaced without a new expiry`() throws {
    _ = try people.add("Ada", role: .moderator, expires: 9_000, now: 1_000)
    #expect(throws: InvitedPeople.Fault.expired) { try people.rotate("Ada", now: 9_000) }
    #expect(throws: Never.self) { try people.rotate("Ada", expires: 99_000, now: 9_000) }
  }

  @Test mutating func `a revoked person has no access, and can be added again`() throws {
    let token = try people.add("Ada", role: .host, now: 1_000)
    try people.revoke("Ada")
    #expect(people.person(withToken: token, at: 2_000) == nil)
    #expect(throws: InvitedPeople.Fault.unknown("Ada")) { try people.revoke("Ada") }
    #expect(throws: InvitedPeople.Fault.unknown("Ada")) { try people.rotate("Ada", now: 2_000) }
    #expect(throws: Never.self) { try people.add("Ada", role: .viewer, now: 2_000) }
  }

  @Test(arguments: ["Ada", "ADA", "ada"])
  func `two people cannot have names that differ only in case`(name: String) throws {
    var people = people
    _ = try people.add("Ada", role: .host, now: 1_000)
    #expect(throws: InvitedPeople.Fault.exists("Ada")) {
      try people.add(name, role: .viewer, now: 1_000)
    }
  }

  @Test mutating func `a composed and a decomposed letter are the same in a name`() throws {
    _ = try people.add("Zo\u{EB}", role: .host, now: 1_000)
    #expect(throws: InvitedPeople.Fault.exists("Zo\u{EB}")) {
      try people.add("Zoe\u{308}", role: .viewer, now: 1_000)
    }
  }

  @Test(arguments: [
    "", " Ada", "Ada ", "A\nda", "A\tda", "A\u{202E}da", "A\u{200B}da", "A\u{A0}da", "\u{0}",
    String(repeating: "a", count: 65), "A\u{2028}da", "A\u{E000}da",
  ])
  func `a name that is empty, long, or not visible text is refused`(name: String) {
    var people = people
    #expect(throws: InvitedPeople.Fault.invalidName) {
      try people.add(name, role: .host, now: 1_000)
    }
  }

  @Test(arguments: ["A", "Ada Lovelace", "小林", "O'Neil; rm -rf", "<b>", "-x", "👍"])
  func `any visible line is a name`(name: String) {
    var people = people
    #expect(throws: Never.self) { try people.add(name, role: .host, now: 1_000) }
  }

  @Test mutating func `the number of people is limited`() throws {
    for number in 0..<InvitedPeople.limit {
      _ = try people.add("person \(number)", role: .viewer, now: 1_000)
    }
    #expect(throws: InvitedPeople.Fault.full) {
      try people.add("one more", role: .viewer, now: 1_000)
    }
  }
}

@Suite struct PeopleFileTests {
  private let directory = TemporaryDirectory()
  private var file: PeopleFile { PeopleFile(path: directory.path + "/people") }

  @Test func `the list survives in a file that only its owner can read`() throws {
    #expect(try file.read().people.isEmpty, "a missing file is an empty list")
    let token = try file.change {
      try $0.add("Ada", role: .moderator, expires: 9_000, now: 1_000)
    }
    let read = try file.read()
    #expect(read.person(withToken: token, at: 2_000)?.name == "Ada")
    let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    let text = try String(contentsOfFile: file.path, encoding: .utf8)
    #expect(!text.contains(token), "the token is stored nowhere")
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["people"])
  }

  @Test func `a change that fails leaves the file as it was`() throws {
    _ = try file.change { try $0.add("Ada", role: .host, now: 1_000) }
    let before = try file.read()
    #expect(throws: InvitedPeople.Fault.unknown("Grace")) {
      try file.change { try $0.revoke("Grace") }
    }
    #expect(try file.read() == before)
  }

  @Test func `changes at the same time all take effect`() async throws {
    try await withThrowingTaskGroup { group in
      for number in 0..<20 {
        group.addTask { [file] in
          _ = try file.change { try $0.add("person \(number)", role: .viewer, now: 1_000) }
        }
      }
      try await group.waitForAll()
    }
    #expect(try file.read().people.count == 20)
  }

  @Test(arguments: [
    "", "{}", "[]", #"{"people":{}}"#, #"{"people":[{}]}"#,
    #"{"people":[{"name":"A","role":"owner","hash":"HASH","created":1,"rotated":1}]}"#,
    #"{"people":[{"name":"A","role":"host","hash":"00","created":1,"rotated":1}]}"#,
    #"{"people":[{"name":"","role":"host","hash":"HASH","created":1,"rotated":1}]}"#,
    """
    {"people":[{"name":"A","role":"host","hash":"HASH","created":1,"rotated":1},
    {"name":"a","role":"host","hash":"HBSH","created":1,"rotated":1}]}
    """,
  ])
  func `a damaged file is an error and is not overwritten`(text: String) throws {
    let text = text.replacing("HASH", with: String(repeating: "0", count: 64))
      .replacing("HBSH", with: String(repeating: "1", count: 64))
    try Data(text.utf8).write(to: URL(fileURLWithPath: file.path))
    chmod(file.path, 0o600)
    #expect(throws: PrivateFileFailure.self) { try self.file.read() }
    #expect(throws: PrivateFileFailure.self) {
      try self.file.change { try $0.add("Ada", role: .host, now: 1_000) }
    }
    #expect(try String(contentsOfFile: file.path, encoding: .utf8) == text)
  }

  @Test func `a file that others can read, a link and a directory are refused`() throws {
    _ = try file.change { try $0.add("Ada", role: .host, now: 1_000) }
    for mode in [0o640, 0o604, 0o660] as [mode_t] {
      chmod(file.path, mode)
      #expect(throws: PrivateFileFailure.self) { try self.file.read() }
    }
    chmod(file.path, 0o600)
    let link = PeopleFile(path: directory.path + "/link")
    try FileManager.default.createSymbolicLink(
      atPath: link.path, withDestinationPath: file.path)
    #expect(throws: PrivateFileFailure.self) { try link.read() }
    #expect(throws: PrivateFileFailure.self) {
      try PeopleFile(path: self.directory.path).read()
    }
  }

  @Test func `the default file belongs to the service for root, and to the user otherwise`() {
    let variables = ["HOME": "/home/ada"]
    #expect(PeopleFile.defaultPath(userID: 0) { variables[$0] } == "/var/lib/livehost-web/people")
    #expect(
      PeopleFile.defaultPath(userID: 7) { variables[$0] }
        == "/home/ada/.local/state/livehost/people")
    #expect(
      PeopleFile.defaultPath(userID: 7) { $0 == "XDG_STATE_HOME" ? "/state" : nil }
        == "/state/livehost/people")
  }
}

@Suite final class AccessControlTests: Sendable {
  private let directory = TemporaryDirectory()
  private let time = Guarded(1_000)
  private let problems = Guarded<[String]>([])
  private let tokens = Tokens()
  private var file: PeopleFile { PeopleFile(path: directory.path + "/people") }

  private var control: AccessControl {
    AccessControl(
      tokens,
      CurrentPeople(file) { [self] problem in
        problems.withLock { $0.append(problem.description) }
      }, now: { [self] in time.withLock { $0 } })
  }

  @Test func `access follows every change of the file without a restart`() throws {
    let control = control
    let token = try file.change { try $0.add("Ada", role: .moderator, now: 1_000) }
    let access = try #require(control.access(token))
    #expect(access.role == .moderator && access.person?.name == "Ada")
    #expect(control.isValid(access))
    let next = try file.change { try $0.rotate("Ada", role: .host, now: 1_000) }
    #expect(!control.isValid(access), "an open stream ends")
    #expect(control.access(token) == nil)
    #expect(control.access(next)?.role == .host)
    try file.change { try $0.revoke("Ada") }
    #expect(control.access(next) == nil)
  }

  @Test func `access ends when the link expires, also of an open stream`() throws {
    let control = control
    let token = try file.change { try $0.add("Ada", role: .host, expires: 5_000, now: 1_000) }
    let access = try #require(control.access(token))
    time.withLock { $0 = 4_999 }
    #expect(control.isValid(access))
    time.withLock { $0 = 5_000 }
    #expect(!control.isValid(access) && control.access(token) == nil)
  }

  @Test func `a file that cannot be read grants nothing, and is reported once`() throws {
    let control = control
    let token = try file.change { try $0.add("Ada", role: .host, now: 1_000) }
    let access = try #require(control.access(token))
    chmod(file.path, 0o644)
    for _ in 0..<3 { #expect(control.access(token) == nil && !control.isValid(access)) }
    #expect(problems.withLock { $0.count } == 1)
    chmod(file.path, 0o600)
    #expect(control.access(token) == access)
    try FileManager.default.removeItem(atPath: file.path)
    #expect(control.access(token) == nil)
  }

  @Test func `a file that cannot be opened is tried again, and reported once`() throws {
    let control = control
    let token = try file.change { try $0.add("Ada", role: .host, now: 1_000) }
    try FileManager.default.moveItem(atPath: file.path, toPath: file.path + ".moved")
    try FileManager.default.createSymbolicLink(
      atPath: file.path, withDestinationPath: file.path + ".moved")
    for _ in 0..<3 { #expect(control.access(token) == nil) }
    #expect(problems.withLock { $0.count } == 1)
    try FileManager.default.removeItem(atPath: file.path)
    try FileManager.default.moveItem(atPath: file.path + ".moved", toPath: file.path)
    #expect(control.access(token) != nil)
  }

  @Test func `the printed links are independent of the file`() {
    let control = control
    #expect(control.access(tokens.acting) == GrantedAccess(role: .host))
    #expect(control.access(tokens.reading) == GrantedAccess(role: .viewer))
    #expect(control.isValid(GrantedAccess(role: .host)) && !control.isValid(nil))
    #expect(control.access(nil) == nil && control.access("") == nil)
    #expect(control.access(String(repeating: "0", count: 1 << 20)) == nil)
  }

  @Test func `only the token of overlays is accepted in an address`() throws {
    let control = control
    let token = try file.change { try $0.add("Ada", role: .viewer, now: 1_000) }
    #expect(control.access(inAddress: tokens.reading)?.role == .viewer)
    #expect(control.access(inAddress: tokens.acting) == nil)
    #expect(control.access(inAddress: token) == nil)
  }
}

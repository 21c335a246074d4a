import Foundation
import JSON
import LiveEvents
import LiveSources
import RateLimiting
import TestSupport
import Testing
import TwitchEvents

struct DeviceLoginTests {
  private static func began() throws -> DeviceLogin {
    var login = DeviceLogin(
      clientID: "client", server: try #require(HTTPAddress("https://id.example")))
    #expect(login.takeEffects().count == 1)
    login.answered(
      200,
      [
        "device_code": "hunter2", "user_code": "ABCD", "verification_uri": "https://example/on",
        "expires_in": 60, "interval": 5,
      ], at: .origin)
    guard case .show("https://example/on", "ABCD", 60)? = login.takeEffects().first else {
      Issue.record("the code is not shown")
      return login
    }
    return login
  }

  @Test func `the login polls until the user confirms the code, and prints the token nowhere`()
    throws
  {
    var login = try Self.began()
    var now = Instant.origin
    for message in ["authorization_pending", "slow_down", "authorization_pending"] {
      now = try #require(login.deadline)
      login.wake(at: now)
      #expect(login.takeEffects().count == 1)
      login.answered(400, ["message": .string(message)], at: now)
    }
    #expect(login.deadline == now + .seconds(10))
    login.wake(at: now + .seconds(10))
    _ = login.takeEffects()
    login.answered(200, ["access_token": "hunter3", "refresh_token": "hunter4"], at: now)
    let naming = login.takeEffects()
    #expect(!"\(naming) \(login)".contains("hunter"))
    login.answered(200, ["login": "ada"], at: now)
    guard case .done(var done)? = login.takeEffects().first else {
      Issue.record("the login does not end")
      return
    }
    #expect(done.account == "ada")
    let directory = TemporaryDirectory()
    let file = directory.path + "/new/twitch.json"
    done.file = file
    try done.save()
    let read = try TwitchLogin.read(file: file)
    #expect(read.token == Secret("hunter3") && read.renewal == Secret("hunter4"))
    #expect(read.clientID == "client" && read.account == "ada")
    let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions]
    #expect(mode as? Int == 0o600)
    extendLifetime(directory)
  }

  @Test func `a login requests the permissions for reading, and those for the given acts`() throws {
    func scopes(_ acts: [ActKind]) throws -> Set<String> {
      var login = DeviceLogin(
        clientID: "client", server: try #require(HTTPAddress("https://id.example")), acts: acts)
      guard case .ask(let request)? = login.takeEffects().first else { return [] }
      let form = String(decoding: request.body?.bytes ?? [], as: UTF8.self)
      let field = form.split(separator: "&").first { $0.hasPrefix("scopes=") } ?? ""
      return Set(
        field.dropFirst(7).replacing("%3A", with: ":").split(separator: "%20").map(String.init))
    }
    let reading = try scopes([])
    #expect(reading.isSuperset(of: ["user:read:chat", "moderator:read:followers"]))
    #expect(!reading.contains { $0.contains("manage") || $0.contains("write") })
    #expect(
      try scopes([.say, .reply, .delete]).subtracting(reading)
        == ["user:write:chat", "moderator:manage:chat_messages"])
  }

  @Test func `a login code that is refused or not confirmed ends the login`() throws {
    var late = try Self.began()
    late.wake(at: try #require(late.deadline))
    _ = late.takeEffects()
    late.answered(400, ["message": "authorization_pending"], at: .origin + .seconds(59))
    late.wake(at: .origin + .seconds(64))
    guard case .refused? = late.takeEffects().first else {
      Issue.record("the login does not end")
      return
    }
    var refused = try Self.began()
    refused.wake(at: try #require(refused.deadline))
    _ = refused.takeEffects()
    refused.answered(400, ["message": "invalid device code"], at: .origin)
    guard case .refused("Twitch answers 400: invalid device code")? = refused.takeEffects().first
    else {
      Issue.record("it does not end")
      return
    }
  }
}

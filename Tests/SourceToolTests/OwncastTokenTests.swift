import Foundation
import LiveEvents
import LiveSources
import MediaServers
import SourceTool
import TestSupport
import Testing

struct OwncastTokenTests {
  private let home = TemporaryDirectory()

  private func configuration(_ rest: String = "", at url: String) throws -> SourceConfiguration {
    var configuration = SourceConfiguration()
    try configuration.read("kind: owncast\nserver: {url: '\(url)'}\n\(rest)", file: "a.yaml")
    return configuration
  }

  private func write(_ text: String, to name: String) throws {
    try text.write(toFile: "\(home.path)/\(name)", atomically: true, encoding: .utf8)
  }

  @Test func `without an access token an Owncast source offers no acts`() throws {
    let configuration = try configuration(at: "https://stream.example")
    #expect(try configuration.owncastActs(credentials: nil) == nil)
    // The file is empty, as by default in the unit.
    try write("\n", to: "login")
    #expect(try configuration.owncastActs(credentials: home.path) == nil)
    // The credential named token is the secret of the webhooks.
    try write("webhooks\n", to: "token")
    #expect(try configuration.owncastActs(credentials: home.path) == nil)
  }

  @Test func `the access token comes from a file or the credential named login`() throws {
    try write("given\n", to: "login")
    try write("named\n", to: "owncast")
    func authorization(_ rest: String) throws -> String? {
      let acts = try configuration(rest, at: "https://stream.example")
        .owncastActs(credentials: home.path)
      return acts?.request(for: try PlatformAct(.say, text: "hi"))?.authorization?.reveal { $0 }
    }
    #expect(try authorization("") == "Bearer given")
    #expect(try authorization("owncast: {tokenFile: '\(home.path)/owncast'}") == "Bearer named")
  }

  @Test func `the configured acts restrict the acts that a source offers`() throws {
    try write("given\n", to: "login")
    func offered(_ rest: String) throws -> [ActKind]? {
      try configuration(rest, at: "http://127.0.0.1:8080").owncastActs(credentials: home.path)?
        .offered
    }
    #expect(try offered("") == [.say, .delete, .setTitle])
    #expect(try offered("acts: [say, ban]") == [.say])
    #expect(try offered("acts: []") == [])
  }

  @Test func `an access token is never sent over the network without encryption`() throws {
    try write("given\n", to: "login")
    let configuration = try configuration(at: "http://stream.example")
    #expect(throws: SourceError.self) {
      try configuration.owncastActs(credentials: home.path)
    }
  }
}

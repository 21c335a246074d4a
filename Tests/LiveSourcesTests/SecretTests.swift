import Foundation
import LiveSources
import Testing

struct SecretTests {
  private static func file(_ text: String) throws -> String {
    let path = NSTemporaryDirectory() + "secret-\(UUID().uuidString)"
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    return path
  }

  @Test func `a secret is read from the first line of its file`() throws {
    let path = try Self.file("abc123\r\nrest\n")
    defer { try? FileManager.default.removeItem(atPath: path) }
    #expect(try Secret.read(file: path).reveal { $0 } == "abc123")
  }

  @Test(arguments: ["", "\n", "with space\n", "tab\there\n"])
  func `an invalid token is rejected without being revealed`(text: String) throws {
    let path = try Self.file(text)
    defer { try? FileManager.default.removeItem(atPath: path) }
    let error = #expect(throws: SourceError.self) { try Secret.read(file: path) }
    #expect(error?.description.contains(path) == true)
    #expect(error?.description.contains("here") == false)
    #expect(error?.exitCode == 78)
  }

  @Test func `a secret is revealed by no way of printing its value`() {
    let secret = Secret("hunter2")
    var dumped = ""
    dump([secret], to: &dumped)
    for text in ["\(secret)", String(reflecting: secret), "\([secret])", dumped] {
      #expect(!text.contains("hunter2"))
    }
  }
}

struct PeerAddressTests {
  @Test(arguments: [
    ("irc.example", "irc.example:6697"), ("irc.example:1", "irc.example:1"),
    ("[::1]", "[::1]:6697"), ("[::1]:7", "[::1]:7"), ("127.0.0.1:65535", "127.0.0.1:65535"),
  ])
  func `an address is parsed as a host with or without a port`(text: String, expected: String) {
    #expect(PeerAddress(text, defaultPort: 6697)?.description == expected)
  }

  @Test(arguments: ["", ":1", "host:", "host:0", "host:65536", "host:x", "[::1]x", "[::1]:"])
  func `text that is not a host with or without a port is rejected`(text: String) {
    #expect(PeerAddress(text, defaultPort: 6697) == nil)
  }
}

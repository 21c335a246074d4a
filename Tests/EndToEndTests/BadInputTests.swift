import ControlInterface
import Foundation
import SocketTestSupport
import Testing

@Suite(.serialized)
struct BadInputTests {
  private let good = #"{"type":"viewers","room":"main","count":7}"# + "\n"

  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let bytes: [UInt8]
    let reason: String
    var testDescription: String { name }
  }

  static let cases = [
    Case(
      name: "malformed JSON", bytes: Array(#"{"type":"viewers","count":}"#.utf8),
      reason: "malformedJSON"),
    Case(name: "half an object", bytes: Array(#"{"type":"viewers""#.utf8), reason: "malformedJSON"),
    Case(name: "an unknown type", bytes: Array(#"{"type":"wave"}"#.utf8), reason: "unknownType"),
    Case(
      name: "a missing member", bytes: Array(#"{"type":"viewers"}"#.utf8), reason: "missingMember"),
    Case(
      name: "a wrong value", bytes: Array(#"{"type":"viewers","count":"x"}"#.utf8),
      reason: "invalidValue"),
    Case(
      name: "a bad room", bytes: Array(#"{"type":"viewers","count":1,"room":"Bad Room"}"#.utf8),
      reason: "invalidRoom"),
    Case(
      name: "invalid UTF-8",
      bytes: Array(#"{"type":"title","title":""#.utf8) + [0xFF, 0xFE] + Array("\"}".utf8),
      reason: "invalidUTF8"),
    Case(
      name: "a line of 10 MiB", bytes: [UInt8](repeating: 0x61, count: 10 << 20),
      reason: "lineTooLong"),
    Case(
      name: "a line of NULs", bytes: [UInt8](repeating: 0, count: 1000), reason: "unknownFormat"),
    Case(
      name: "a truncated IRC tag block", bytes: Array("@badge-info=;badges=;color".utf8),
      reason: "malformedIRC"),
    Case(
      name: "a line of the IRC protocol without an event", bytes: Array("PING :tmi.twitch.tv".utf8),
      reason: "protocolLine"),
  ]

  @Test func `invalid input is rejected and counted by reason, and all connections stay open`()
    async throws
  {
    let daemon = try RunningDaemon()
    let other = try BlockingClient(daemon.ingestSocket)
    let connection = try BlockingClient(daemon.ingestSocket)
    for (index, bad) in Self.cases.enumerated() {
      try connection.write(bad.bytes + [0x0A])
      try connection.write(good)
      let answer = try connection.sync("\(index)")
      #expect(answer?["token"] as? String == "\(index)", "\(bad.name)")
      #expect(answer?["received"] as? Int == 2 * (index + 1), "\(bad.name)")
      #expect(answer?["rejected"] as? Int == index + 1, "\(bad.name)")
      try other.write(good)
      #expect(try other.sync()?["rejected"] as? Int == 0, "\(bad.name)")
    }
    let expected = Dictionary(Self.cases.map { ($0.reason, 1) }, uniquingKeysWith: +)
    let status = try await daemon.withControl { try await $0.getStatus() }
    #expect(status.totals.rejectedByReason == expected)
    #expect(status.totals.rejected == Self.cases.count)
    #expect(status.totals.received == 3 * Self.cases.count)
    #expect(status.totals.pending == 0)
    #expect(status.memoryBytes < 256 << 20, "memory stays bounded")
    #expect(daemon.stop() == 0)
  }

  @Test func `a client that disconnects in the middle of a line causes one rejected line`()
    async throws
  {
    let daemon = try RunningDaemon()
    do {
      let connection = try BlockingClient(daemon.ingestSocket)
      try connection.write(good + #"{"type":"viewers","cou"#)
    }
    let other = try BlockingClient(daemon.ingestSocket)
    try other.write(good)
    _ = try other.sync()
    // The daemon notices the disconnection some time later: poll until it does.
    var status = try await daemon.withControl { try await $0.getStatus() }
    for _ in 0..<10_000 where status.totals.rejected == 0 {
      status = try await daemon.withControl { try await $0.getStatus() }
    }
    #expect(status.totals.rejectedByReason == ["malformedJSON": 1])
    #expect(daemon.stop() == 0)
  }
}

import ControlInterface
import Foundation
import HostFeature
import SocketTestSupport
import Testing

/// Checks the daemon against a malicious sender with permission to send, who uses every input of
/// the ingest socket up to its limit.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct HostileSenderTests {
  private static let rooms = (0..<16).map { "r\($0)" }

  /// The memory that the daemon may use for its rooms and for itself, in bytes.
  private static let memoryLimit =
    (rooms.count + 1) * RoomBudget.bytes(chatHistory: 500) + (200 << 20) + quarantine

  /// The freed memory that the address sanitizer retains, in bytes.
  private static let quarantine =
    ProcessInfo.processInfo.environment["ASAN_OPTIONS"] == nil ? 0 : 256 << 20

  /// The processor time that a turn may use, in microseconds. The thread sanitizer slows turns down
  /// several times.
  private static let turnLimit: UInt64 =
    ProcessInfo.processInfo.environment["TSAN_OPTIONS"] == nil ? 250_000 : 2_500_000

  private func successor(of daemon: RunningDaemon) throws -> RunningDaemon {
    try RunningDaemon(
      arguments: ["--state-dir", daemon.directory.appendingPathComponent("state").path])
  }

  private func message(_ room: String, _ id: Int, user: String, _ text: String) -> String {
    #"{"type":"chat.message","room":"\#(room)","id":"\#(room)-\#(id)","user":{"id":"\#(user)","name":"\#(user)"},"text":"\#(text)"}"#
      + "\n"
  }

  /// Returns a highlight and a filter whose terms almost match at every position of the texts.
  private func searches(_ room: String) -> String {
    let names = (0..<32).map { "\"" + String(repeating: "@", count: 254 - $0) + "x\"" }
      .joined(separator: ",")
    return #"{"type":"host.highlight","room":"\#(room)","names":[\#(names)]}"# + "\n"
      + #"{"type":"host.filter","room":"\#(room)","words":"\#(String(repeating: "@", count: 255))x"}"#
      + "\n"
  }

  private func check(_ daemon: RunningDaemon) async throws {
    let (status, hangs) = try await daemon.withControl { control in
      (try await control.getStatus(), try await control.listHangs().hangs)
    }
    #expect(status.memoryBytes < Self.memoryLimit, "\(status.memoryBytes >> 20) MiB")
    #expect(status.rooms >= Self.rooms.count)
    #expect(status.problems == nil || status.health != .failing)
    // Only processor time counts. On a busy machine, a lane may wait for a processor, for a page of
    // memory, or for a thread that has no processor.
    #expect(hangs.filter { $0.processorMicroseconds ?? .max >= Self.turnLimit } == [])
  }

  @Test
  func `hostile text, searches, viewers and timestamps neither stop nor exhaust the daemon`()
    async throws
  {
    let daemon = try RunningDaemon()
    let sender = try BlockingClient(daemon.ingestSocket)
    let text = String(repeating: "@", count: 64_000)
    for room in Self.rooms {
      for id in 0..<60 { try sender.write(message(room, id, user: "u\(id)", text)) }
      try sender.write(searches(room))
      for id in 60..<80 { try sender.write(message(room, id, user: "u\(id)", text)) }
      // The search terms change while the history is being searched.
      try sender.write(searches(room))
    }
    #expect(try sender.sync()?["rejected"] as? Int == 0)
    for number in 0..<20_000 {
      let user = "a-forged-identifier-\(number)"
      try sender.write(message(Self.rooms[number % 4], 1_000 + number, user: user, "hi"))
      try sender.write(
        #"{"type":"waiting.join","room":"\#(Self.rooms[number % 4])","user":{"id":"\#(user)","name":"\#(String(repeating: "n", count: 200))"}}"#
          + "\n")
    }
    #expect(try sender.sync()?["rejected"] as? Int == 0)
    let jumping = try BlockingClient(daemon.ingestSocket)
    try jumping.write(#"{"type":"options","clock":"event"}"# + "\n")
    try jumping.write(#"{"type":"stream","room":"jumps","ts":1000,"state":"live"}"# + "\n")
    for number in 1...200 {
      try jumping.write(
        #"{"type":"viewers","room":"jumps","ts":\#(number * 65_000),"count":\#(number)}"# + "\n")
    }
    // A million syncs without any event to wait for.
    let syncs = [UInt8](
      String(repeating: #"{"type":"sync","token":""}"# + "\n", count: 200).utf8)
    for _ in 0..<5_000 {
      try sender.write(syncs)
      for _ in 0..<200 { try #require(sender.readLine() != nil) }
    }
    #expect(try jumping.sync()?["rejected"] as? Int == 0)
    try await check(daemon)

    daemon.kill()
    let next = try successor(of: daemon)
    try await check(next)
    #expect(try next.ctl("show", "r15", "chat", "--json=short").status == 0)
  }
}

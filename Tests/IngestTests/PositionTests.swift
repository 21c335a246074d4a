import Ingest
import LiveEvents
import NIOCore
import NIOEmbedded
import Testing
import WireFormats

/// Tests batches: a room gets its part of a batch as a whole or not at all.
@Suite struct PositionTests {
  private func position(_ sequence: Int, of source: String = "s") -> String {
    #"{"type":"position","source":"\#(source)","sequence":\#(sequence)}"# + "\n"
  }

  private func viewers(_ count: Int, room: String = "main") -> String {
    #"{"type":"viewers","count":\#(count),"room":"\#(room)"}"# + "\n"
  }

  private func sync(_ token: String) -> String { #"{"type":"sync","token":"\#(token)"}"# + "\n" }

  private func batch(_ sequence: Int) -> BatchPosition {
    BatchPosition(source: "s", sequence: sequence)
  }

  @Test(arguments: [1, 7, 64, 10_000])
  func `each room gets its part of a batch in one delivery, however the bytes are split`(piece: Int)
    throws
  {
    let sink = RecordingSink()
    let connection = try EmbeddedConnection(sink)
    let lines =
      viewers(1) + position(4) + viewers(2) + viewers(3, room: "b") + viewers(4) + position(5)
      + viewers(5) + sync("t") + viewers(6)
    let bytes = Array(lines.utf8)
    for start in stride(from: 0, to: bytes.count, by: piece) {
      try connection.send(bytes[start..<min(start + piece, bytes.count)])
    }
    let main = sink.notes.filter { $0.room == "main" }
    #expect(main.map(\.position) == [nil, batch(4), batch(5), nil])
    #expect(main.map(\.events.count) == [1, 2, 1, 1])
    #expect(main.map(\.wantsAcknowledgement) == [false, false, true, false])
    // Room b is asked to acknowledge its earlier delivery. The request is not part of a batch.
    let other = sink.notes.filter { $0.room == "b" }
    #expect(other.map(\.position) == [batch(4), nil])
    #expect(other.map(\.events.count) == [1, 0])
    #expect(
      try connection.answers() == #"{"type":"synced","token":"t","received":5,"rejected":0}"# + "\n"
    )
  }

  @Test func `an options line ends the batch before it`() throws {
    let sink = RecordingSink()
    let connection = try EmbeddedConnection(sink)
    try connection.send(
      position(1) + viewers(1) + #"{"type":"options","room":"c"}"# + "\n" + viewers(2) + sync("t"))
    #expect(sink.notes.prefix(2).map(\.position) == [batch(1), nil])
    #expect(sink.notes.prefix(2).map(\.room) == ["main", "c"])
  }

  @Test func `a batch whose sender disconnects before its end is rejected`() throws {
    let sink = RecordingSink()
    let connection = try EmbeddedConnection(sink)
    try connection.send(position(1) + viewers(1) + viewers(2))
    #expect(sink.notes.isEmpty)
    connection.channel.pipeline.fireChannelInactive()
    #expect(sink.payloads("main").isEmpty)
    #expect(sink.rejections("main") == [.unfinishedBatch: 2])
    #expect(sink.notes.allSatisfy { $0.position == nil })
  }

  @Test
  func `a batch that is too large is rejected as a whole, including its lines after the limit`()
    throws
  {
    let sink = RecordingSink()
    let connection = try EmbeddedConnection(sink)
    let count = 20_000
    for number in 0..<count {
      try connection.send((number == 0 ? position(1) : "") + viewers(number))
    }
    try connection.send(position(2) + viewers(1) + sync("t"))
    #expect(sink.rejections("main") == [.batchTooLarge: count])
    #expect(sink.payloads("main") == [.header(.viewers(count: 1))])
    #expect(sink.notes.map(\.position) == [nil, batch(2)])
    #expect(
      try connection.answers()
        == #"{"type":"synced","token":"t","received":\#(count + 1),"rejected":\#(count)}"# + "\n")
  }

  @Test func `a batch can hold 64 KiB of the shortest lines and one line of maximum length`() throws
  {
    let sink = RecordingSink()
    let connection = try EmbeddedConnection(sink)
    let short = #"{"type":"chat.clear"}"# + "\n"
    let count = 64 * 1024 / short.utf8.count
    try connection.send(position(1) + String(repeating: short, count: count))
    let title = String(repeating: "t", count: 64 * 1024 - 40)
    try connection.send(#"{"type":"title","title":"\#(title)"}"# + "\n" + sync("t"))
    #expect(sink.payloads("main").count == count + 1)
    #expect(sink.notes.first?.position == batch(1))
  }

  @Test func `a connection does not stop reading within a batch when the sink is slow`() throws {
    let sink = RecordingSink(holding: true)
    let connection = try EmbeddedConnection(sink) { $0.maximumOutstandingBytes = 2_000 }
    try connection.send(position(1))
    for number in 0..<100 { try connection.send(viewers(number)) }
    try connection.send(sync("t"))
    #expect(sink.payloads("main").count == 100)
    for receipt in sink.takeHeld() { receipt.markApplied() }
    #expect(
      try connection.answers()
        == #"{"type":"synced","token":"t","received":100,"rejected":0}"# + "\n")
  }
}

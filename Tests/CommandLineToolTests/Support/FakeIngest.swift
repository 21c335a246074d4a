import JSON
import NIOCore
import Synchronization

/// Receives and counts lines and answers sync lines, like the daemon's ingest socket.
final class FakeIngest: Sendable {
  struct Received {
    /// The events, without control lines.
    var lines: [String] = []
    var control: [JSONValue] = []
    var writes: [Int] = []
  }

  let received = Mutex(Received())
  /// Yields at every line.
  let arrivals: AsyncStream<Void>
  private let arrived: AsyncStream<Void>.Continuation
  private let closesAfterSyncs: Int?

  init(closesAfterSyncs: Int?) {
    self.closesAfterSyncs = closesAfterSyncs
    (arrivals, arrived) = AsyncStream.makeStream()
  }

  /// Receives a line; returns the answer, and whether the connection stays open.
  fileprivate func receive(_ line: String) -> (answer: String?, goesOn: Bool) {
    defer { arrived.yield() }
    return received.withLock { received in
      guard let value = try? JSONValue(parsing: line), let type = value["type"]?.stringValue,
        ["sync", "options", "position"].contains(type)
      else {
        received.lines.append(line)
        return (nil, true)
      }
      received.control.append(value)
      guard type == "sync", let token = value["token"] else { return (nil, true) }
      let syncs = received.control.count { $0["type"] == "sync" }
      let isKept = !received.lines.contains { $0.contains("unkept") }
      var answer: [JSONName: JSONValue] = [
        "type": isKept ? "synced" : "applied", "token": token,
        "received": .integer(Int64(received.lines.count)),
        "rejected": .integer(Int64(received.lines.count { $0.contains("refuse") })),
      ]
      if !isKept { answer["reason"] = "No space left on device" }
      return ("\(JSONValue.object(answer))\n", syncs != closesAfterSyncs)
    }
  }

  final class Handler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let ingest: FakeIngest
    private var rest: [UInt8] = []

    init(_ ingest: FakeIngest) { self.ingest = ingest }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let bytes = unwrapInboundIn(data).readableBytesView
      ingest.received.withLock { $0.writes.append(bytes.count) }
      rest += bytes
      let parts = rest.split(separator: 0x0A, omittingEmptySubsequences: false)
      rest = Array(parts.last ?? [])
      for part in parts.dropLast() {
        let (answer, goesOn) = ingest.receive(String(decoding: part, as: UTF8.self))
        if goesOn, let answer {
          context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
        }
        if !goesOn { return context.close(promise: nil) }
      }
    }
  }
}

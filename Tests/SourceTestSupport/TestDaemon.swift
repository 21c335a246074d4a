package import JSON
import LiveSources
package import NIOCore
import NIOPosix
import TestSupport

/// A simulated ingest socket that accepts each batch of a session once, and acknowledges it.
package final class TestDaemon: Sendable {
  /// The state that belongs to the event loop. The state survives a restart, like data on a disk.
  private final class Core {
    var positions: [String: Int] = [:]
    var channels: [any Channel] = []
    /// Whether answers are held back.
    var isStalled = false
    /// The answers held back, with their channels.
    var heldBack: [(channel: any Channel, answer: String)] = []
    let lines: Recorded

    init(_ lines: Recorded) { self.lines = lines }
  }

  private final class Connection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let core: Core
    private var splitter = LineSplitter(maximumLength: 65_536)
    private var isRepeat = false

    init(_ core: Core) { self.core = core }

    func handlerAdded(context: ChannelHandlerContext) { core.channels.append(context.channel) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      var answers = ""
      unwrapInboundIn(data).withUnsafeReadableBytes { bytes in
        splitter.receive(bytes) { answers += receive(Array($0), on: context.channel) }
      }
      if !answers.isEmpty {
        context.channel.writeAndFlush(ByteBuffer(string: answers), promise: nil)
      }
    }

    private func receive(_ line: [UInt8], on channel: any Channel) -> String {
      let text = String(decoding: line, as: UTF8.self)
      guard text.hasPrefix("{"), let value = try? JSONValue(parsing: line) else {
        if !isRepeat { core.lines.append(text) }
        return ""
      }
      switch value["type"]?.stringValue {
      case "position":
        let (session, number) = (
          value["source"]?.stringValue ?? "", value["sequence"]?.integerValue
        )
        let sequence = Int(number ?? 0)
        isRepeat = core.positions[session, default: 0] >= sequence
        core.positions[session] = max(core.positions[session, default: 0], sequence)
        return ""
      case "sync":
        isRepeat = false
        let token = value["token"]?.stringValue ?? ""
        let answer =
          "{\"type\":\"synced\",\"token\":\"\(token)\",\"received\":1,\"rejected\":0}\n"
        guard core.isStalled else { return answer }
        core.heldBack.append((channel, answer))
        return ""
      default:
        if !isRepeat { core.lines.append(text) }
        return ""
      }
    }
  }

  private let directory = TemporaryDirectory()
  package var path: String { directory.path + "/ingest" }
  /// The applied lines.
  package let lines = Recorded()
  private let loop: any EventLoop
  private let core: NIOLoopBound<Core>

  package init(_ group: any EventLoopGroup) async throws {
    let (loop, lines) = (group.next(), lines)
    self.loop = loop
    core = try await loop.submit { NIOLoopBound(Core(lines), eventLoop: loop) }.get()
    try await start()
  }

  package func start() async throws {
    let (core, path) = (core, path)
    let listener = try await ServerBootstrap(group: loop)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Connection(core.value))
        }
      }
      .bind(unixDomainSocketPath: path, cleanupExistingSocketFile: true).get()
    try await loop.submit { core.value.channels.append(listener) }.get()
  }

  /// Ends like a killed daemon: unanswered lines may or may not have been applied.
  package func kill() async throws {
    let channels = try await loop.submit { [core] in
      defer { core.value.channels = [] }
      return core.value.channels
    }.get()
    for channel in channels { try? await channel.close() }
  }

  /// Holds answers back, or sends the answers that were held back.
  package func stall(_ isStalled: Bool) async throws {
    try await loop.submit { [core] in
      core.value.isStalled = isStalled
      guard !isStalled else { return }
      for (channel, answer) in core.value.heldBack {
        channel.writeAndFlush(ByteBuffer(string: answer), promise: nil)
      }
      core.value.heldBack = []
    }.get()
  }

  /// The applied messages, represented by their last word.
  package var messages: [String] {
    lines.entries.filter { $0.contains("PRIVMSG") }
      .compactMap { $0.split(separator: ":").last.map(String.init) }
  }

  package func wait(forMessage id: String) async {
    await lines.wait { $0.hasSuffix("PRIVMSG #ada :\(id)") }
  }

  /// Returns the values of a member in the applied lines of a type.
  package func values(of member: String, type: String) -> [JSONValue] {
    lines.entries.compactMap { line -> JSONValue? in
      guard let value = try? JSONValue(parsing: Array(line.utf8)),
        value["type"]?.stringValue == type
      else { return nil }
      return value[member]
    }
  }
}

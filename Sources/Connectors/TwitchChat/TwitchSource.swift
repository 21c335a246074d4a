import LiveEvents
package import LiveSources
package import NIOCore
import RateLimiting

/// Performs the effects of a ``TwitchSession`` with real sockets and a real clock.
///
/// Belongs to one event loop.
package final class TwitchSource: SessionSource {
  /// The daemon's line limit, which no line from Twitch reaches: the tags of a line have at most
  /// 8,191 bytes.
  private static let longestLine = 64 * 1024

  private struct OpenConnection {
    let connection: PeerConnection
    var splitter = LineSplitter(maximumLength: longestLine)
  }

  private let address: PeerAddress
  private let security: PeerSecurity?
  package let delivery: SourceDelivery
  package let eventLoop: any EventLoop
  package var session: TwitchSession
  private var peers: [Int: OpenConnection] = [:]
  private var statuses: [String: SourceStatus] = [:]
  package let timer = SourceTimer()
  private var isPaused = false
  /// The number of messages that arrived without an identifier, so that one was generated.
  private var untagged = 0
  private let history: ChatHistory?

  package var events = SourceEvents()
  /// The number of lines skipped because they exceeded the maximum length.
  package private(set) var tooLong = 0

  /// - Parameter history: The history service for missed messages, if any.
  package init(
    _ settings: TwitchSettings, address: PeerAddress, security: PeerSecurity?,
    history: ChatHistory? = nil, delivery: SourceDelivery, eventLoop: any EventLoop
  ) {
    var settings = settings
    settings.readsHistory = history != nil
    self.history = history
    self.address = address
    self.security = security
    self.delivery = delivery
    self.eventLoop = eventLoop
    session = TwitchSession(
      settings, generator: SystemRandomNumberGenerator(), at: SourceDelivery.now)
  }

  package func start() {
    delivery.pause = { [weak self] in self?.pause($0) }
    advance { $0.wake(at: $1) }
  }

  package func stop() {
    for (channel, status) in statuses where status.state != .refused {
      statuses[channel]?.state = .ended
      statuses[channel]?.reason = nil
    }
    for room in Set(statuses.keys.map(room)) { delivery.report(status(of: room), in: room) }
    timer.stop()
    for peer in peers.values { peer.connection.close() }
    peers = [:]
    history?.cancel()
  }

  package func perform(_ effect: TwitchSession.Effect) {
    switch effect {
    case .connect(let id): connect(id)
    case .close(let id): peers.removeValue(forKey: id)?.connection.close()
    case .send(let id, let line): peers[id]?.connection.send(line + "\r\n")
    case .authenticate(let id):
      session.settings.account?.token.reveal { token in
        let prefix = token.hasPrefix("oauth:") ? "" : "oauth:"
        peers[id]?.connection.send("PASS \(prefix)\(token)\r\n")
      }
    case .status(let channel, let status):
      statuses[channel] = status
      let room = room(of: channel)
      delivery.report(self.status(of: room), in: room)
      events.changed(channel, status)
    case .gap(let channel, let from, let to, let reason):
      let gap = SourceGap(from: from, to: to, reason: reason)
      report(gap, of: channel, in: room(of: channel))
    case .history(let channel, let from, let to):
      history?.ask(channel, from: from, to: to, on: eventLoop) { [unowned self] lines in
        let since = SourceDelivery.wallTime(from)
        for line in lines {
          line.withUnsafeBytes {
            if session.receive(history: $0, of: channel, since: since) { delivery.deliver($0) }
          }
        }
        delivery.flush()
        advance { session, _ in session.receivedHistory(of: channel) }
      }
    case .refused(let reason): events.failed(.refused(reason))
    }
  }

  private func connect(_ id: Int) {
    var events = StreamEvents()
    events.opened = { [weak self] in self?.advance { $0.opened(id, at: $1) } }
    events.received = { [weak self] in self?.receive($0, on: id) }
    events.drained = { [delivery] in delivery.flush() }
    events.closed = { [weak self] reason in
      self?.peers[id] = nil
      self?.advance { $0.closed(id, reason: reason, at: $1) }
    }
    let connection = PeerConnection(
      to: address, security: security, eventLoop: eventLoop, events: events)
    if isPaused { connection.setReading(false) }
    peers[id] = OpenConnection(connection: connection)
  }

  private func receive(_ bytes: UnsafeRawBufferPointer, on id: Int) {
    guard var splitter = peers[id]?.splitter else { return }
    let now = SourceDelivery.now
    let before = splitter.tooLong
    // The splitter is removed from the table during use, so that its buffer is not copied.
    peers[id]?.splitter = LineSplitter(maximumLength: 0)
    splitter.receive(bytes) { line in
      switch session.receive(line, on: id, at: now) {
      case .ignore: break
      case .forward: delivery.deliver(line)
      case .forwardUntagged(let message): deliver(message)
      }
    }
    tooLong += splitter.tooLong - before
    peers[id]?.splitter = splitter
    settle()
  }

  private func deliver(_ message: UntaggedMessage) {
    untagged += 1
    let line = SourceLine.message(
      id: "\(delivery.session)-\(untagged)", user: message.nick, text: message.text,
      room: room(of: message.channel))
    line.withUnsafeBytes { delivery.deliver($0) }
  }

  private func pause(_ isPaused: Bool) {
    self.isPaused = isPaused
    for peer in peers.values { peer.connection.setReading(!isPaused) }
    advance { $0.pause(isPaused, at: $1) }
  }

  // MARK: Rooms

  /// Returns the room of a channel: the configured room, or the room with the channel's name.
  private func room(of channel: String) -> RoomName {
    delivery.settings.room ?? RoomName(channel) ?? .main
  }

  /// Returns the status of a room, which is the worst status of its channels.
  private func status(of room: RoomName) -> SourceStatus {
    let order: [SourceHealth.Connection] = [.refused, .connecting, .behind, .live, .ended]
    let all = statuses.filter { self.room(of: $0.key) == room }.sorted { $0.key < $1.key }
      .map(\.value)
    let worst = all.min {
      (order.firstIndex(of: $0.state) ?? 0) < (order.firstIndex(of: $1.state) ?? 0)
    }
    return worst ?? SourceStatus(.connecting)
  }
}

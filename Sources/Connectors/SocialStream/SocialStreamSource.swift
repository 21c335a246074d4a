import ChatImport
import JSON
package import LiveEvents
package import LiveSources
package import NIOCore
import RateLimiting

/// Performs the effects of a ``SocialStreamSession`` with a real socket and a real clock.
///
/// Belongs to one event loop.
package final class SocialStreamSource: SessionSource {
  /// The project's public server.
  package static let server = "wss://io.socialstream.ninja"
  /// The server's channels: Social Stream Ninja sends chats to the first, and reads commands from
  /// the second.
  private static let channels = "4/1"
  /// The name of the source. The session's identifier is never shown, because anyone with the
  /// identifier can read the session.
  private static let name = "social-stream"

  private let server: HTTPAddress
  private let sessionName: Secret
  private let security: PeerSecurity?
  package let delivery: SourceDelivery
  private let room: RoomName
  private let requests: RoomRequests
  package let eventLoop: any EventLoop
  package var session: SocialStreamSession
  private var connection: (id: Int, socket: WebSocketConnection)?
  private var isPaused = false
  package let timer = SourceTimer()

  package var events = SourceEvents()

  package init(
    session name: Secret, server: HTTPAddress, security: PeerSecurity?, acts: [ActKind],
    requests: RoomRequests, delivery: SourceDelivery, eventLoop: any EventLoop
  ) {
    self.server = server
    sessionName = name
    self.security = security
    self.requests = requests
    self.delivery = delivery
    self.eventLoop = eventLoop
    room = delivery.settings.room ?? .main
    session = SocialStreamSession(
      room: room.description, run: delivery.session, acts: acts,
      generator: SystemRandomNumberGenerator(), at: SourceDelivery.now)
  }

  package func start() {
    delivery.pause = { [weak self] in self?.pause($0) }
    advance { $0.wake(at: $1) }
    guard !session.offeredActs.isEmpty else { return }
    receiveActs(from: requests)
    requests.serve(acts: session.offeredActs)
  }

  package func stop() {
    advance { $0.finish(at: $1) }
    delivery.report(SourceStatus(.ended), in: room)
    timer.stop()
    requests.stop()
    connection?.socket.close()
    connection = nil
  }

  package func perform(_ effect: SocialStreamSession.Effect) {
    switch effect {
    case .connect(let id): connect(id)
    case .close(let id):
      guard connection?.id == id else { return }
      connection?.socket.close()
      connection = nil
    case .ping(let id): if connection?.id == id { connection?.socket.ping() }
    case .send(let id, let command):
      if connection?.id == id { connection?.socket.send(command.serialized()) }
    case .outcome(let request, let outcome): requests.report(request, outcome)
    case .deliver(let lines, let count): delivery.deliver(lines: lines, count: count)
    case .status(let status): report(status, of: Self.name, in: room)
    case .gap(let from, let to, let reason):
      report(SourceGap(from: from, to: to, reason: reason), of: Self.name, in: room)
    }
  }

  private func connect(_ id: Int) {
    var events = WebSocketEvents()
    events.opened = { [weak self] in self?.advance { $0.opened(id, at: $1) } }
    events.ponged = { [weak self] in self?.advance { $0.heard(id, at: $1) } }
    events.received = { [weak self] bytes in
      let message = JSONValue(lenient: Array(bytes))
      self?.advance { session, now in
        if let message {
          session.receive(message, on: id, at: now, time: SourceDelivery.wallTime(now))
        } else {
          session.heard(id, at: now)
        }
      }
    }
    events.drained = { [delivery] in delivery.flush() }
    events.closed = { [weak self] end in
      if self?.connection?.id == id { self?.connection = nil }
      self?.advance { $0.closed(id, reason: end.reason, at: $1) }
    }
    let path = sessionName.reveal {
      server.appending("/join/\($0)/\(SocialStreamSource.channels)").path
    }
    let socket = WebSocketConnection(
      to: server.server, path: path, security: server.isEncrypted ? security : nil,
      eventLoop: eventLoop, events: events)
    if isPaused { socket.setReading(false) }
    connection = (id, socket)
  }

  private func pause(_ isPaused: Bool) {
    self.isPaused = isPaused
    connection?.socket.setReading(!isPaused)
    advance { $0.pause(isPaused, at: $1) }
  }
}

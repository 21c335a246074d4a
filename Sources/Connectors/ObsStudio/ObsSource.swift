import ControlInterface
import JSON
import LiveEvents
package import LiveSources
package import NIOCore
import RateLimiting

/// Performs the effects of an ``ObsSession`` with real sockets and a real clock.
///
/// Belongs to one event loop.
package final class ObsSource: SessionSource {
  private let address: PeerAddress
  package let delivery: SourceDelivery
  private let room: RoomName
  private let requests: RoomRequests?
  package let eventLoop: any EventLoop
  package var session: ObsSession
  private var connection: (id: Int, WebSocketConnection)?
  package let timer = SourceTimer()
  private var isPaused = false
  private var status = SourceStatus(.connecting)

  package var events = SourceEvents()

  /// - Parameter control: The daemon's control socket, for the room's requests. `nil` disables
  ///   requests.
  package init(
    _ settings: ObsSettings, address: PeerAddress, delivery: SourceDelivery, control: String?,
    eventLoop: any EventLoop
  ) {
    self.address = address
    self.delivery = delivery
    self.eventLoop = eventLoop
    let room = delivery.settings.room ?? .main
    self.room = room
    requests = control.map {
      RoomRequests(RoomRequests.Settings(path: $0, room: room), eventLoop: eventLoop)
    }
    session = ObsSession(settings, generator: SystemRandomNumberGenerator(), at: SourceDelivery.now)
  }

  package func start() {
    delivery.pause = { [weak self] in self?.pause($0) }
    requests?.received = { [weak self] in self?.handle($0) }
    requests?.withdrawn = { [weak self] identifier in
      self?.advance { session, _ in session.withdraw(identifier) }
    }
    requests?.changed = { [weak self] problem in
      self?.advance { $0.setControllerProblem(problem, at: $1) }
    }
    advance { $0.wake(at: $1) }
  }

  package func stop() {
    advance { $0.finish(at: $1) }
    if status.state != .refused { delivery.report(SourceStatus(.ended), in: room) }
    timer.stop()
    requests?.stop()
    connection?.1.close()
    connection = nil
  }

  package func perform(_ effect: ObsSession.Effect) {
    switch effect {
    case .connect(let id): connect(id)
    case .close(let id):
      guard connection?.id == id else { return }
      connection?.1.close()
      connection = nil
    case .send(let id, let message):
      guard connection?.id == id else { return }
      connection?.1.send(message.serialized())
    case .event(let event, let time):
      event.line(room: room, at: SourceDelivery.wallTime(time)).withUnsafeBytes {
        delivery.deliver($0)
      }
    case .status(let status):
      self.status = status
      report(status, of: address.description, in: room)
    case .gap(let from, let to, let reason):
      report(SourceGap(from: from, to: to, reason: reason), of: address.description, in: room)
    case .controls(let controls): requests?.serve(controls: controls)
    case .outcome(let request, let outcome): requests?.report(request, outcome)
    case .refused(let reason): events.failed(.refused(reason))
    }
  }

  private func connect(_ id: Int) {
    var events = WebSocketEvents()
    events.opened = { [weak self] in self?.advance { $0.opened(id, at: $1) } }
    events.received = { [weak self] bytes in
      guard let message = try? JSONValue(parsing: Array(bytes)) else { return }
      self?.advance { $0.receive(message, on: id, at: $1) }
    }
    events.drained = { [delivery] in delivery.flush() }
    events.closed = { [weak self] end in
      if self?.connection?.id == id { self?.connection = nil }
      self?.advance { $0.closed(id, code: end.code, reason: end.reason, at: $1) }
    }
    let connection = WebSocketConnection(
      to: address, protocolName: "obswebsocket.json", security: nil, eventLoop: eventLoop,
      events: events)
    if isPaused { connection.setReading(false) }
    self.connection = (id, connection)
  }

  private func pause(_ isPaused: Bool) {
    self.isPaused = isPaused
    connection?.1.setReading(!isPaused)
    advance { $0.pause(isPaused, at: $1) }
  }

  private func handle(_ request: RequestReport) {
    let kind: ObsCommand.Kind
    switch (request.kind, request.control) {
    case (.setControl, let control?): kind = .slider(control, value: request.value ?? 0)
    case (.setSwitch, let control?): kind = .switch(control, on: request.on ?? false)
    case (.endStream, _): kind = .endStream
    case (.startRecording, _): kind = .record(.start)
    case (.stopRecording, _): kind = .record(.stop)
    case (.pauseRecording, _): kind = .record(.pause)
    case (.resumeRecording, _): kind = .record(.resume)
    // The daemon sends neither kind: requests to set something name a control, and this source
    // offers no acts.
    case (.setControl, nil), (.setSwitch, nil), (.act, _): return
    }
    let command = ObsCommand(identifier: request.identifier, kind: kind)
    advance { $0.handle(command, at: $1) }
  }
}

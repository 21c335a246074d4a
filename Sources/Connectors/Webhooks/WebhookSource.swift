import LiveEvents
package import LiveSources
package import NIOCore
import RateLimiting

/// Performs the effects of a ``WebhookSession`` with a real server and a real clock.
///
/// Belongs to one event loop.
package final class WebhookSource: SessionSource {
  private let address: PeerAddress
  package let delivery: SourceDelivery
  private let room: RoomName
  package let eventLoop: any EventLoop
  private let gate: WebhookGate
  private let limits: WebhookServer.Limits
  package var session: WebhookSession
  private var server: WebhookServer?
  package let timer = SourceTimer()

  package var events = SourceEvents()
  package var refused: Int { session.refused }

  package init(
    _ mapping: WebhookMapping, address: PeerAddress, gate: WebhookGate,
    limits: WebhookServer.Limits = WebhookServer.Limits(), delivery: SourceDelivery,
    eventLoop: any EventLoop
  ) {
    self.address = address
    var gate = gate
    (gate.secretInBody, gate.signature) = (mapping.secret, mapping.signature)
    gate.wrapper = mapping.wrapper
    self.gate = gate
    self.limits = limits
    self.delivery = delivery
    self.eventLoop = eventLoop
    room = delivery.settings.room ?? .main
    session = WebhookSession(mapping, address: address.description)
  }

  /// The port of the server, or `nil` before it listens.
  package var port: Int? { server?.port }

  package func start() {
    delivery.pause = { [unowned self] isPaused in advance { session, _ in session.pause(isPaused) }
    }
    delivery.acknowledged = { [unowned self] in
      let count = delivery.delivered
      advance { session, _ in session.acknowledged(count) }
    }
    var events = WebhookEvents()
    events.opened = { [unowned self] in advance { session, _ in session.opened() } }
    events.failed = { [unowned self] reason in
      report(
        SourceStatus(.refused, reason: "\(address): \(reason)"), of: address.description, in: room)
      self.events.failed(.cannotListen(address: address.description, reason: reason))
    }
    // A connection may outlive the source for a moment.
    events.received = { [weak self] id, delivered, bytes in
      guard let self else { return }
      let acknowledged = delivery.delivered
      let submitted = acknowledged + delivery.waiting
      advance { $0.receive(id, delivered, bytes: bytes, queue: (submitted, acknowledged), at: $1) }
    }
    events.left = { [weak self] id in self?.advance { session, _ in session.left(id) } }
    events.refused = { [weak self] reason in self?.advance { $0.refuse(reason, at: $1) } }
    let server = WebhookServer(gate, limits: limits, eventLoop: eventLoop, events: events)
    self.server = server
    advance { _, _ in }
    server.start(at: address)
  }

  package func stop() {
    advance { $0.finish(at: $1) }
    delivery.report(SourceStatus(.ended), in: room)
    timer.stop()
    server?.stop()
  }

  package func perform(_ effect: WebhookSession.Effect) {
    switch effect {
    case .deliver(let lines): for line in lines { line.withUnsafeBytes { delivery.deliver($0) } }
    case .answer(let id, let answer): server?.answer(id, answer)
    case .status(let status): report(status, of: address.description, in: room)
    case .gap(let from, let to, let reason):
      report(SourceGap(from: from, to: to, reason: reason), of: address.description, in: room)
    }
  }

  package func performedAll() { delivery.flush() }
}

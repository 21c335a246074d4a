package import ControlInterface
import Ingest
import JSON
package import LiveEvents
package import NIOCore
import SystemSupport
package import Varlink

/// Handles the calls that change rooms of a cluster. Appends each call to the log, like events, and
/// answers it with the outcome that the room's owner reports.
package struct LoggedActs: HostActService {
  private let node: NIOLoopBound<ClusterNode>
  private let loop: any EventLoop
  private let origin: OriginLookup

  /// - Parameter origin: finds the control socket of a room's owner.
  package init(
    _ node: NIOLoopBound<ClusterNode>, on loop: any EventLoop, origin: @escaping OriginLookup
  ) {
    (self.node, self.loop, self.origin) = (node, loop, origin)
  }

  /// Adds the methods that append host actions to the log.
  package func add(to interface: inout Interface) throws {
    try ControlInterface.addHostActs(to: &interface, self)
    try interface.handle("OpenRoom") { (_, parameters: OpenRoomParameters) in
      _ = try await log(.open, parameters.room)
      return NoParameters()
    }
    try interface.handle("CloseRoom") { (_, parameters: CloseRoomParameters) in
      _ = try await log(.close, parameters.room)
      return NoParameters()
    }
    try interface.handle("SendEvents") { (_, parameters: SendEventsParameters) in
      try await send(parameters)
    }
  }

  package func act(_ act: LiveEvent.Payload, in room: String) async throws -> HostReply {
    let event = LiveEvent(timestamp: Timestamp(WallClock.milliseconds()), payload: act)
    guard let kind = LoggedAct.event(event) else { throw ServiceError.invalidParameter("") }
    return try await log(kind, room).decode()
  }

  package func message(
    numbered number: Int, in room: String
  ) async throws -> FoundMessage {
    do {
      let client = try await VarlinkClient.connect(path: try await origin(room))
      let found = try await client.callRaw(
        "\(SnapshotTransfer.interface).FindMessage",
        ["room": .string(room), "number": .integer(Int64(number))])
      let author = Text(found["author"]?.stringValue ?? "")
      return FoundMessage(
        identifier: Text(found["message"]?.stringValue ?? ""),
        author: Person(id: author, name: author),
        platform: found["platform"]?.stringValue.map { Text($0) })
    } catch VarlinkClientError.remote(let error) { throw error }
  }

  /// Appends a host action to the log and returns its outcome. If the outcome stays unknown, throws
  /// `CancellationError`, which closes the caller's connection.
  private func log(_ kind: LoggedAct.Kind, _ room: String) async throws -> JSONValue {
    guard let name = RoomName(room) else { throw ServiceError.invalidParameter("room") }
    let outcome = try await loop.flatSubmit { [node, loop] in
      let promise = loop.makePromise(of: JSONValue?.self)
      node.value.append(kind, in: name) { promise.succeed($0) }
      return promise.futureResult
    }.get()
    guard let outcome else { throw CancellationError() }
    if let error = outcome["error"]?.stringValue {
      throw VarlinkError(name: error, parameters: outcome["parameters"]?.objectValue ?? [:])
    }
    return outcome["reply"] ?? [:]
  }

  /// Appends events and, like the ingest socket, returns once the log has stored them.
  private func send(_ parameters: SendEventsParameters) async throws -> SendEventsReply {
    guard let fallback = parameters.room.map({ RoomName($0) }) ?? .main else {
      throw ServiceError.invalidParameter("room")
    }
    var decoder = SentEvents(fallback: fallback, arrival: IngestConfiguration.systemTime())
    for (index, event) in parameters.events.enumerated() {
      do throws(SentEvents.Refusal) {
        try decoder.add(event.serialized())
      } catch {
        throw ControlError.invalidEvent(
          index: index, reason: error.reason.rawValue, fault: error.fault)
      }
    }
    var rejected = 0
    for batch in decoder.batches {
      typealias Outcome = (rejected: Int, failure: String?)
      let outcome: Outcome = await withCheckedContinuation { continuation in
        let delivery = RoomDelivery(
          room: batch.room, events: batch.events,
          receipt: DeliveryReceipt { continuation.resume(returning: ($0, $1)) })
        loop.execute { [node] in node.value.append(delivery) }
      }
      if outcome.failure != nil { throw CancellationError() }
      rejected += outcome.rejected
    }
    return SendEventsReply(received: parameters.events.count, rejected: rejected)
  }
}

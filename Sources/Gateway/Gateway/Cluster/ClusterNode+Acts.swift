import ControlInterface
import Ingest
import JSON
import LiveEvents
import LiveSources
import NIOCore
import NatsClient
import RateLimiting
import Varlink

// What comes by calls: into the log from any node, and out of it to the daemon of the room's owner.
extension ClusterNode {
  /// How long an act may take, through a change of the owner.
  private static let patience = Interval.seconds(30)

  /// Puts an act into the log. Its outcome is told once; `nil` if it is not known.
  func append(
    _ kind: LoggedAct.Kind, in room: RoomName, answered: @escaping (JSONValue?) -> Void
  ) {
    let token = requests.expect(within: Self.patience) { message in
      answered(message.flatMap { try? JSONValue(parsing: $0.bytes) })
    }
    let act = LoggedAct(kind, answer: requests.subject(of: token) ?? "")
    appender.append(
      act.line, position: nil, in: room, isAlone: true, receipt: DeliveryReceipt())
    publish()
  }

  /// Carries out the acts whose turn it is.
  func carryOut() {
    for act in feed.takeActs() { carryOut(act) }
  }

  private func carryOut(_ act: LogFeed.Act) {
    let control = settings.control
    let (node, openings) = (handle, openings)
    Task {
      // Others may wait for long, until a surface has answered.
      if act.isOpening {
        await openings.use { await ClusterNode.carryOut(act, control, node) }
      } else {
        await ClusterNode.carryOut(act, control, node)
      }
    }
  }

  private static func carryOut(
    _ act: LogFeed.Act, _ control: String, _ node: NodeHandle
  ) async {
    while (try? await node.get { $0.feed.isActing(act) }) == true {
      let outcome = await carryOut(act, control) { node.perform { $0.end(act, nil) } }
      if let outcome { return node.perform { $0.end(act, outcome) } }
      // The daemon may be starting again; then the act is read again.
      try? await Task.sleep(for: .milliseconds(250))
    }
  }

  private func end(_ act: LogFeed.Act, _ outcome: JSONValue?) {
    if feed.isActing(act) {
      let isGone = outcome.map { act.act.leavesNoRoom($0) } ?? false
      if !act.isOpening {
        snapshots.acts += 1
      } else if isGone {
        snapshots.noteRefused(act.room)
      }
      feed.ended(act, isGone: isGone)
      writeToDaemon()
      carryOut()
    }
    if let outcome, act.act.answer.hasPrefix("_INBOX.") {
      requests.publish(act.act.answer, outcome.serialized())
    }
  }

  /// Has the daemon carry out an act. Returns the outcome; `nil` if nothing is known of it.
  ///
  /// - Parameter taken: called if the outcome comes later than the act.
  private static func carryOut(
    _ act: LogFeed.Act, _ control: String, taken: @Sendable () -> Void
  ) async -> JSONValue? {
    do {
      let client = try await VarlinkClient.connect(path: control)
      let room = act.room.description
      let position: [JSONName: JSONValue] = [
        "room": .string(room), "source": .string(act.log), "sequence": .integer(Int64(act.code)),
      ]
      switch act.act.kind {
      case .open:
        _ = try await client.callRaw("\(SnapshotTransfer.interface).OpenRoom", position)
        return ["reply": [:]]
      case .close:
        try await ControlClient(client).closeRoom(room)
        return ["reply": [:]]
      case .event(let event):
        let event: [JSONName: JSONValue] = ["event": .string(event.description)]
        for try await reply in try client.callMore(
          "\(SnapshotTransfer.interface).PerformAct",
          JSONValue.object(position.merging(event) { $1 }), returning: JSONValue.self)
        {
          if reply["taken"] == true { taken() }
          if let reply = reply["reply"] { return ["reply": reply] }
        }
        return nil
      }
    } catch VarlinkClientError.remote(let error) {
      return ["error": .string(error.name), "parameters": .object(error.parameters)]
    } catch {
      return nil
    }
  }
}

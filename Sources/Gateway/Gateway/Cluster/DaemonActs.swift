import ControlInterface
import JSON
import LiveEvents
import Varlink

/// Calls the local daemon to carry out host actions that were read from the log.
struct DaemonActs: Sendable {
  let control: String
  /// Limits the number of concurrent calls that open rooms, because each call uses a connection and
  /// the daemon accepts only a few hundred connections.
  private let openings = Slots(32)

  init(control: String) { self.control = control }

  /// Carries out a host action. Repeats the call until the daemon has answered or `isNeeded`
  /// returns false. Returns the outcome; `nil` if the host action is no longer needed. Calls
  /// `started` if the outcome follows later, for example after a controller has confirmed the host
  /// action.
  func carryOut(
    _ act: LogFeed.Act, while isNeeded: @Sendable () async -> Bool,
    started: @escaping @Sendable () -> Void
  ) async -> JSONValue? {
    // Only openings of rooms use a slot, because other host actions may have to wait a long time
    // for a controller.
    guard act.isOpening else { return await attempt(act, isNeeded, started) }
    return await openings.use { await attempt(act, isNeeded, started) }
  }

  private func attempt(
    _ act: LogFeed.Act, _ isNeeded: @Sendable () async -> Bool,
    _ started: @escaping @Sendable () -> Void
  ) async -> JSONValue? {
    while await isNeeded() {
      if let outcome = await call(act, started) { return outcome }
      // The daemon may be restarting. In this case `isNeeded` soon returns false, because the node
      // reads the host action from the log again.
      try? await Task.sleep(for: .milliseconds(250))
    }
    return nil
  }

  /// Returns the outcome of a host action; `nil` if it is unknown.
  private func call(
    _ act: LogFeed.Act, _ started: @Sendable () -> Void
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
          if reply["taken"] == true { started() }
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

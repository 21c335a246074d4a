import ControlInterface
import LiveEvents
import LivehostDaemon
import Rooms
import Testing

/// A client that performs the requests of `main`.
final class ControllerClient: Sendable {
  private let task: Task<Void, Never>
  let messages: AsyncStream<MonitorRequestsReply>

  /// Waits until the controller is connected to the room.
  init(
    _ control: LivehostControl, _ lane: HostLane, controls: [Text]? = nil, acts: OfferedActs? = nil
  ) async {
    let (stream, continuation) = AsyncStream<MonitorRequestsReply>.makeStream()
    messages = stream
    let before = await Self.actions(lane)
    task = Task {
      _ = try? await control.monitorRequests("main", controls: controls, acts: acts) {
        continuation.yield($0)
      }
      continuation.finish()
    }
    while await Self.actions(lane) == before { await Task.yield() }
  }

  private static func actions(_ lane: HostLane) async -> Int? {
    await lane.metrics().first { $0.room == "main" }?.actionsByFeature["control"]
  }

  func next() async throws -> MonitorRequestsReply {
    var iterator = messages.makeAsyncIterator()
    return try #require(await iterator.next())
  }

  /// Waits until the room has removed the controller.
  func leave() async {
    task.cancel()
    await task.value
  }
}

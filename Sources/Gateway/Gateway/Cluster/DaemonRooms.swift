import ControlInterface
import LiveEvents
import Varlink

/// The rooms of the local daemon, by calls on its control socket.
struct DaemonRooms: Sendable {
  let control: String
  /// The logs of the cluster, as the daemon knows them: the stream's name and when it was created.
  let logs: Set<String>

  /// Returns the newest position of a log that each room of the daemon has; rooms without such a
  /// position are left out.
  func positions() async throws -> [RoomName: Int] {
    let client = try await ControlClient.connect(path: control)
    var held: [RoomName: Int] = [:]
    for summary in try await client.listRooms().rooms {
      guard let room = RoomName(summary.room) else { continue }
      let positions = (try? await client.getPositions(room: summary.room).positions) ?? [:]
      held[room] = positions.filter { logs.contains($0.key) }.values.max()
    }
    await client.client.close()
    return held
  }

  /// Closes the rooms that came from a log and that `mayClose` is true for.
  func closeCopies(where mayClose: (RoomName) async throws -> Bool) async throws {
    let client = try await ControlClient.connect(path: control)
    for summary in try await client.listRooms().rooms {
      guard let room = RoomName(summary.room), try await mayClose(room) else { continue }
      do { try await close(room, client) } catch VarlinkClientError.remote {
        // The room is closed already.
      }
    }
    await client.client.close()
  }

  /// Closes the copies of rooms. Returns whether the daemon is reached.
  func closeCopies(of rooms: [RoomName]) async -> Bool {
    guard let client = try? await ControlClient.connect(path: control) else { return false }
    for room in rooms { try? await close(room, client) }
    await client.client.close()
    return true
  }

  /// Closes a room that came from a log. A room that did not is fed directly by somebody else, and
  /// stays open. A recording ends with its room, and is kept.
  private func close(_ room: RoomName, _ client: ControlClient) async throws {
    let positions = try await client.getPositions(room: room.description).positions
    if !logs.isDisjoint(with: positions.keys) { try await client.closeRoom(room.description) }
  }
}

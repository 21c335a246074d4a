import ControlInterface
import LiveEvents
import Varlink

/// Reads and closes the local daemon's rooms through its control socket.
struct DaemonRooms: Sendable {
  let control: String
  /// The names that the daemon uses for the cluster's logs. Each consists of a stream's name and
  /// its creation time.
  let logs: Set<String>

  /// Returns, for each room of the daemon that has received messages of a log, the newest position
  /// in that log.
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

  /// Closes the rooms whose events came from a log, if `mayClose` returns true for the room.
  func closeCopies(where mayClose: (RoomName) async throws -> Bool) async throws {
    let client = try await ControlClient.connect(path: control)
    for summary in try await client.listRooms().rooms {
      guard let room = RoomName(summary.room), try await mayClose(room) else { continue }
      do { try await close(room, client) } catch VarlinkClientError.remote {
        // The room may have been closed in the meantime.
      }
    }
    await client.client.close()
  }

  /// Closes the copies of rooms. Returns false if the daemon cannot be reached.
  func closeCopies(of rooms: [RoomName]) async -> Bool {
    guard let client = try? await ControlClient.connect(path: control) else { return false }
    for room in rooms { try? await close(room, client) }
    await client.client.close()
    return true
  }

  /// Closes a room whose events came from a log. A recording of the room ends and is kept. A room
  /// that receives its events directly from sources stays open.
  private func close(_ room: RoomName, _ client: ControlClient) async throws {
    let positions = try await client.getPositions(room: room.description).positions
    if !logs.isDisjoint(with: positions.keys) { try await client.closeRoom(room.description) }
  }
}

import ControlInterface
import LiveEvents
import Varlink

/// Reads and closes the local daemon's rooms through its control socket.
struct DaemonRooms: Sendable {
  let control: String
  /// The names under which the daemon knows the cluster's logs: stream name and creation time.
  let logs: Set<String>

  /// Returns the newest position of a log in each room of the daemon, without rooms that have no
  /// such position.
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

  /// Closes the rooms that came from a log and for which `mayClose` returns true.
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

  /// Closes a room that came from a log. Any other room receives its events directly, and stays
  /// open. A recording of the room ends and is kept.
  private func close(_ room: RoomName, _ client: ControlClient) async throws {
    let positions = try await client.getPositions(room: room.description).positions
    if !logs.isDisjoint(with: positions.keys) { try await client.closeRoom(room.description) }
  }
}

import HostFeature
import Ingest
package import Logging
import Wording

/// All settings of the daemon. The defaults run with nothing configured.
package struct Configuration: Sendable, Equatable {
  package var logLevel: Logger.Level = .info
  /// Threads that rooms are spread over; `nil` as many as ``standardLanes(cores:)`` says.
  package var lanes: Int?
  package var rooms = RoomSettings()
  /// Rooms opened at the start.
  package var openRooms: [String] = []
  package var ingestConnections = 256
  package var controlConnections = 256
  package var monitors = 64
  /// How many days after a recording was made or last read it is read again to find damage; 0 means never.
  package var scrubDays = 7
  package var retention = RetentionLimits()

  /// One core is left for what all rooms share, which takes about a third of the time of busy rooms: half of two cores
  /// would be too much.
  package static func standardLanes(cores: Int) -> Int { max(cores - 1, min(cores, 2)) }

  package init() {}

  /// The most memory that one room may take, in bytes.
  private var roomMemory: Int {
    RoomBudget.bytes(chatHistory: rooms.chatHistory, analysesChat: rooms.analysesChat)
      + KnownEvents.memory
  }

  private var ingestMemory: Int {
    var ingest = IngestConfiguration()
    ingest.maximumConnections = ingestConnections
    return ingest.memoryLimit
  }

  /// The most memory that rooms and senders may take, in bytes.
  package var memory: Int { rooms.maximumRooms * roomMemory + ingestMemory }

  /// ``memory`` for people.
  package var memoryText: String {
    "\(Format.count(rooms.maximumRooms, "room")) of \(Format.bytes(roomMemory)) each may take "
      + "\(Format.bytes(rooms.maximumRooms * roomMemory)) of memory in all, and "
      + "\(Format.count(ingestConnections, "ingest connection")) \(Format.bytes(ingestMemory))"
  }
}

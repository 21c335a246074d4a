import HostFeature
import Ingest
package import Logging
package import Rooms
import Wording

/// All settings of the daemon. The default values work without any configuration file.
package struct Configuration: Sendable, Equatable {
  package var logLevel: Logger.Level = .info
  /// The number of lanes; `nil` means ``defaultLanes(cores:)``.
  package var lanes: Int?
  package var rooms = RoomSettings()
  package var openRooms: [String] = []
  package var ingestConnections = 256
  package var controlConnections = 256
  package var monitors = 64
  /// The days between two checks of a recording for damage, starting with its creation; 0 means
  /// never.
  package var scrubDays = 7
  package var retention = RetentionLimits()

  /// Returns the default number of lanes.
  ///
  /// One core is reserved for the work that all rooms share, such as writing the log. This work
  /// takes about a third of the processor time of busy rooms. On two cores no core is reserved,
  /// because it would be half of the machine.
  package static func defaultLanes(cores: Int) -> Int { max(cores - 1, min(cores, 2)) }

  package init() {}

  private var roomMemory: Int {
    RoomBudget.bytes(chatHistory: rooms.chatHistory, analysesChat: rooms.analysesChat)
      + KnownEvents.memory
  }

  private var ingestMemory: Int {
    var ingest = IngestConfiguration()
    ingest.maximumConnections = ingestConnections
    return ingest.memoryLimit
  }

  /// The maximum memory of all rooms and ingest connections, in bytes.
  package var memory: Int { rooms.maximumRooms * roomMemory + ingestMemory }

  /// The maximum memory of rooms and ingest connections, as text for people.
  package var memoryText: String {
    "\(Format.count(rooms.maximumRooms, "room")) of \(Format.bytes(roomMemory)) each may use "
      + "\(Format.bytes(rooms.maximumRooms * roomMemory)) of memory in total, and "
      + "\(Format.count(ingestConnections, "ingest connection")) \(Format.bytes(ingestMemory))"
  }
}

package import FileSystem

/// The limits and intervals with which the log and recordings are written.
package struct RecordingSettings: Sendable {
  /// The size in bytes at which a segment is closed.
  package var segmentBytes = 32 << 20
  /// The age in nanoseconds at which a segment is closed.
  package var segmentNanoseconds: UInt64 = 900_000_000_000
  /// How long bytes of the log may stay unsynced if nothing is waiting for them, in nanoseconds.
  package var syncNanoseconds: UInt64 = 250_000_000
  /// How long bytes of a recording may stay unsynced, in nanoseconds. The log can replace them.
  package var recordingSyncNanoseconds: UInt64 = 5_000_000_000
  /// The number of waiting steps of a room above which its senders are held back.
  package var highWater = 65_536
  /// The size in bytes of all waiting steps above which all senders are held back.
  package var highWaterBytes = 32 << 20
  /// The number of waiting steps of a room above which its batches are dropped.
  package var maximumWaiting = 2_000_000
  /// The disk with the log and the recordings.
  package var disk: any Disk = SystemDisk()
  /// The path of the SQLite catalogue, which never uses ``disk``. By default it is in the directory
  /// of the recordings. With a simulated disk it is a temporary file, or `:memory:`.
  package var cataloguePath: String?

  package init() {}
}

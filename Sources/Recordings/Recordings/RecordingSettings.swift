/// How recordings are written.
package struct RecordingSettings: Sendable, Equatable {
  /// Size in bytes from which on a segment is closed.
  package var segmentBytes = 32 << 20
  /// Age in nanoseconds from which on a segment is closed.
  package var segmentNanoseconds: UInt64 = 900_000_000_000
  /// For how long written bytes may stay unsynced while nobody waits for them, in nanoseconds.
  package var syncNanoseconds: UInt64 = 250_000_000
  /// Events waiting for the disk from which on senders are held back.
  package var highWater = 65_536
  /// Events waiting for the disk from which on a recording fails.
  package var maximumWaiting = 2_000_000

  package init() {}
}

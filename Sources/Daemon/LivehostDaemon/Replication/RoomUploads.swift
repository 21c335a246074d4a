import ControlInterface
package import LiveEvents
import Varlink

/// States of rooms on their way in, part by part, within one budget of bytes.
///
/// An upload belongs to no connection, so nobody says when it is given up. Instead, one that gets
/// no parts is dropped after a while, and the one that has been still the longest makes way for
/// others.
package struct RoomUploads: Sendable {
  private struct Upload: Sendable {
    let room: RoomName
    var parts = 0
    var bytes: [UInt8] = []
    /// It has had no part since the last call of ``dropStill()``.
    var isStill = false
  }

  /// The largest state.
  package static let maximumBytes = 32 << 20
  /// How many bytes are held at most, including those of complete states that are not rooms yet.
  package static let budget = 2 * maximumBytes
  /// How many uploads may be incomplete: as many as a gateway sends at once. Empty ones take
  /// memory, too.
  package static let maximumCount = 8

  /// The incomplete ones; the one that has been still the longest is the first.
  private var uploads: [Upload] = []
  /// Of complete states that are not rooms yet.
  private var completeBytes = 0

  package init() {}

  /// How many bytes are held.
  package var heldBytes: Int { uploads.reduce(completeBytes) { $0 + $1.bytes.count } }

  /// Adds a part to the upload of a room; part 0 begins a new one. Others are dropped if they have
  /// to make way.
  ///
  /// - Returns: the state if this was its last part. It counts until ``end(_:)``.
  /// - Throws: `ServiceError` if the part does not follow the one before it, `ControlError` if
  ///   there is no place for it; the upload is dropped then.
  package mutating func add(
    _ part: [UInt8], at index: Int, of room: RoomName, isLast: Bool
  ) throws -> [UInt8]? {
    let position = uploads.firstIndex { $0.room == room }
    guard index == 0 || index == position.map({ uploads[$0].parts }) else {
      throw ServiceError.invalidParameter("index")
    }
    // Taken out, so that it does not make way for itself.
    var upload = Upload(room: room)
    if let position {
      let former = uploads.remove(at: position)
      if index > 0 { upload = former }
    }
    let size = upload.bytes.count + part.count
    guard size <= Self.maximumBytes else { throw ControlError.limitReached("roomBytes") }
    while uploads.count >= Self.maximumCount || heldBytes + size > Self.budget {
      // The rest are complete: they are not taken from whoever waits for their rooms, and end soon.
      guard !uploads.isEmpty else { throw ControlError.limitReached("roomBytes") }
      uploads.removeFirst()
    }
    upload.parts += 1
    upload.isStill = false
    upload.bytes += part
    if isLast {
      completeBytes += size
      return upload.bytes
    }
    uploads.append(upload)
    return nil
  }

  /// Notes that a complete state has become a room or was refused.
  ///
  /// - Parameter bytes: its size.
  package mutating func end(_ bytes: Int) { completeBytes -= bytes }

  /// Drops the uploads that have had no part since the last call.
  package mutating func dropStill() {
    uploads.removeAll { $0.isStill }
    for index in uploads.indices { uploads[index].isStill = true }
  }
}

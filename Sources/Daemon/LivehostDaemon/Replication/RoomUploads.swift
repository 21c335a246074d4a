import ControlInterface
package import LiveEvents
import Varlink

/// Room states that the gateway uploads in parts, limited to a total number of bytes.
///
/// An upload belongs to no connection, so nothing signals that it was abandoned. Instead, an upload
/// that receives no parts for a while is dropped. If space is needed, the upload that has waited
/// longest is dropped first.
package struct RoomUploads: Sendable {
  private struct Upload: Sendable {
    let room: RoomName
    var parts = 0
    var bytes: [UInt8] = []
    /// Whether the upload has received no part since the last call of ``dropStill()``.
    var isStill = false
  }

  /// The maximum size of one state.
  package static let maximumBytes = 32 << 20
  /// The maximum number of bytes held, including complete states that have not become rooms yet.
  package static let budget = 2 * maximumBytes
  /// The maximum number of incomplete uploads, as many as one gateway sends concurrently. It also
  /// limits the memory of empty uploads.
  package static let maximumCount = 8

  /// The incomplete uploads, sorted by the time of their last part, oldest first.
  private var uploads: [Upload] = []
  /// The bytes of complete states that have not become rooms yet.
  private var completeBytes = 0

  package init() {}

  package var heldBytes: Int { uploads.reduce(completeBytes) { $0 + $1.bytes.count } }

  /// Adds a part to the upload of a room; part 0 begins a new upload. Drops other uploads if it
  /// needs their space.
  ///
  /// - Returns: the complete state if this was its last part. The bytes of the state are counted
  ///   until ``end(_:)``.
  /// - Throws: `ServiceError` if the part does not follow the previous one, `ControlError` if there
  ///   is no space for it. If there is no space, the upload is dropped.
  package mutating func add(
    _ part: [UInt8], at index: Int, of room: RoomName, isLast: Bool
  ) throws -> [UInt8]? {
    let position = uploads.firstIndex { $0.room == room }
    guard index == 0 || index == position.map({ uploads[$0].parts }) else {
      throw ServiceError.invalidParameter("index")
    }
    // The upload is removed first, so that it is not dropped to make space for itself.
    var upload = Upload(room: room)
    if let position {
      let former = uploads.remove(at: position)
      if index > 0 { upload = former }
    }
    let size = upload.bytes.count + part.count
    guard size <= Self.maximumBytes else { throw ControlError.limitReached("roomBytes") }
    while uploads.count >= Self.maximumCount || heldBytes + size > Self.budget {
      // Complete states are not dropped: callers wait for the rooms, and the bytes of these states
      // are soon free.
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

  /// Frees the bytes of a complete state that has become a room or was refused.
  package mutating func end(_ bytes: Int) { completeBytes -= bytes }

  /// Drops the uploads that have received no part since the last call.
  package mutating func dropStill() {
    uploads.removeAll { $0.isStill }
    for index in uploads.indices { uploads[index].isStill = true }
  }
}

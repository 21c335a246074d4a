public import LiveEvents

/// Writes events as native lines; the opposite of ``LineDecoder``.
///
/// Decoding a written line gives an equal event, for every event that a line can carry.
public enum NativeEncoder {
  /// Appends one line, LF included. `room` is left out if it is `nil`.
  ///
  /// - Complexity: O(length of the line), however long `bytes` already is.
  public static func append(_ event: LiveEvent, room: RoomName? = nil, to bytes: inout [UInt8]) {
    JSONObjectWriter.append(to: &bytes) { object in
      object.add("type", event.payload.nativeType)
      if let room { object.add("room", room.description) }
      object.add("ts", Int(event.timestamp))
      event.payload.write(to: &object)
    }
    bytes.append(0x0A)
  }

  /// A text as a JSON string, quotation marks included.
  public static func quoted(_ text: String) -> [UInt8] { JSONObjectWriter.quoted(text) }
}

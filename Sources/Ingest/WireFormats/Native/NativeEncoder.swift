import JSON
public import LiveEvents

/// Writes events as native lines; the opposite of ``LineDecoder``.
///
/// Decoding a written line gives an equal event, for every event that a line can carry.
public enum NativeEncoder {
  /// Appends one line, LF included. `room` is left out if it is `nil`.
  ///
  /// - Complexity: O(length of the line), however long `bytes` already is.
  public static func append(_ event: LiveEvent, room: RoomName? = nil, to bytes: inout [UInt8]) {
    JSONWriter.append(to: &bytes) { writer in
      writer.appendObject { object in
        object.add("type", event.payload.nativeType)
        object.add("room", room?.description)
        object.add("ts", Int(event.timestamp))
        event.payload.write(to: &object)
        if event.origin != .none, event.payload.hasOrigin {
          let (platform, source) = (event.origin.platform, event.origin.source)
          if !platform.isEmpty { object.add("platform", platform) }
          if !source.isEmpty { object.add("source", source) }
        }
      }
    }
    bytes.append(0x0A)
  }
}

extension JSONWriter {
  mutating func append(_ text: Text) {
    if text.escape == .json {
      // It came as JSON and goes as it came.
      text.withRawBytes { append(escaped: $0) }
    } else {
      text.withUTF8 { append(utf8: $0) }
    }
  }

  mutating func add(_ name: StaticString, _ value: Text?) {
    guard let value else { return }
    self.name(name)
    append(value)
  }
}

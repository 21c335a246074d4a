import JSON
public import LiveEvents

/// Encodes events as native lines. For every event that a line can carry, ``LineDecoder`` decodes
/// the line to an equal event.
public enum NativeEncoder {
  /// Appends one line, including its LF. Omits the member `room` if `room` is `nil`. Takes O(length
  /// of the line).
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
      // The text is already escaped as JSON.
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

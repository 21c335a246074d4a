/// The formats of lines that carry events. Commands to the connection are always native.
///
/// Each format has a folder beside this file with a `recognises` function and an extension of
/// ``LineDecoder``. A new format also needs a case here and in
/// ``LineDecoder/decode(_:line:arrival:)``.
public enum WireFormat: String, Sendable, CaseIterable {
  case native
  case twitchIRC = "twitch-irc"

  /// Returns the format of a line, which is `nil` if unknown, and the number of bytes before the
  /// line's content. Returns `nil` instead of both for a line of white space.
  @inline(__always)
  static func recognise(
    _ bytes: UnsafePointer<UInt8>, count: Int
  ) -> (format: WireFormat?, skipped: Int)? {
    guard count > 0 else { return nil }
    // The first byte identifies nearly all lines.
    switch bytes[0] {
    case UInt8(ascii: "{"): return (.native, 0)
    case UInt8(ascii: "@"), UInt8(ascii: ":"): return (.twitchIRC, 0)
    default: return recogniseOther(bytes, count: count)
    }
  }

  private static func recogniseOther(
    _ bytes: UnsafePointer<UInt8>, count: Int
  ) -> (format: WireFormat?, skipped: Int)? {
    var start = 0
    // Some editors write a byte-order mark before the first line of a file.
    if count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF { start = 3 }
    while start < count, bytes[start] == 0x20 || bytes[start] == 0x09 { start += 1 }
    guard start < count else { return nil }
    let format = allCases.first { $0.recognises(bytes + start, count: count - start) }
    return (format, start)
  }

  /// Returns whether the first bytes of a line match this format. The caller skips leading white
  /// space.
  private func recognises(_ bytes: UnsafePointer<UInt8>, count: Int) -> Bool {
    switch self {
    case .native: NativeFormat.recognises(bytes, count: count)
    case .twitchIRC: TwitchIRCFormat.recognises(bytes, count: count)
    }
  }
}

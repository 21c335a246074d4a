/// The formats of lines that carry events. Lines to the connection are native whatever the format.
///
/// A format is a folder next to this file: a `recognises` and an extension of ``LineDecoder`` that
/// decodes a line. A new one takes a case here and one in ``LineDecoder/decode(_:line:arrival:)``.
public enum WireFormat: String, Sendable, CaseIterable {
  case native
  case twitchIRC = "twitch-irc"

  /// The format of a line, or none, and at which of its bytes the format begins; `nil` for a line
  /// of white space.
  @inline(__always)
  static func recognise(
    _ bytes: UnsafePointer<UInt8>, count: Int
  ) -> (format: WireFormat?, skipped: Int)? {
    guard count > 0 else { return nil }
    // Nearly all lines begin at once with a byte that is enough.
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
    // Some editors put a byte-order mark before the first line of a file.
    if count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF { start = 3 }
    while start < count, bytes[start] == 0x20 || bytes[start] == 0x09 { start += 1 }
    guard start < count else { return nil }
    let format = allCases.first { $0.recognises(bytes + start, count: count - start) }
    return (format, start)
  }

  /// Whether a line is of this format, by its first bytes; white space is skipped.
  private func recognises(_ bytes: UnsafePointer<UInt8>, count: Int) -> Bool {
    switch self {
    case .native: NativeFormat.recognises(bytes, count: count)
    case .twitchIRC: TwitchIRCFormat.recognises(bytes, count: count)
    }
  }
}

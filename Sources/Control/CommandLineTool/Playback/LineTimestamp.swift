import Glibc

/// Finds the timestamp of an event without decoding its line.
package enum LineTimestamp {
  /// Returns the timestamp of a line in milliseconds since 1970; nil if the line has none.
  ///
  /// The timestamp of a Twitch IRC message is its tag `tmi-sent-ts`; the timestamp of a native
  /// event is its member `ts`. Quotation marks inside a JSON string are escaped, so `"ts":` can
  /// occur only as the name of a member.
  package static func milliseconds(in line: UnsafeRawBufferPointer) -> Int64? {
    guard let first = line.first(where: { $0 != 0x20 && $0 != 0x09 }) else { return nil }
    switch first {
    case UInt8(ascii: "@"): return tag(in: line)
    case UInt8(ascii: "{"): return member(in: line)
    default: return nil
    }
  }

  private static func tag(in line: UnsafeRawBufferPointer) -> Int64? {
    // The first space after the `@` ends the tags.
    var rest = rest(of: line, after: UInt8(ascii: "@"))
    rest = UnsafeRawBufferPointer(rebasing: rest.prefix(offset(of: 0x20, in: rest) ?? rest.count))
    while !rest.isEmpty {
      if let value = dropping("tmi-sent-ts=", from: rest) { return number(value) }
      rest = self.rest(of: rest, after: UInt8(ascii: ";"))
    }
    return nil
  }

  private static func member(in line: UnsafeRawBufferPointer) -> Int64? {
    var rest = line
    while !rest.isEmpty {
      rest = self.rest(of: rest, after: UInt8(ascii: "\""))
      guard let found = dropping("ts\"", from: rest).map(dropBlanks),
        found.first == UInt8(ascii: ":")
      else { continue }
      return number(dropBlanks(UnsafeRawBufferPointer(rebasing: found.dropFirst())))
    }
    return nil
  }

  private static func offset(of byte: UInt8, in bytes: UnsafeRawBufferPointer) -> Int? {
    guard let base = bytes.baseAddress, let found = memchr(base, Int32(byte), bytes.count) else {
      return nil
    }
    return UnsafeRawPointer(found) - base
  }

  /// Returns the bytes after the first occurrence of `byte`; returns no bytes if there is none.
  private static func rest(
    of bytes: UnsafeRawBufferPointer, after byte: UInt8
  ) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      rebasing: bytes.dropFirst(offset(of: byte, in: bytes).map { $0 + 1 } ?? bytes.count))
  }

  private static func dropping(
    _ prefix: StaticString, from bytes: UnsafeRawBufferPointer
  ) -> UnsafeRawBufferPointer? {
    let count = prefix.utf8CodeUnitCount
    guard bytes.count >= count, let base = bytes.baseAddress,
      memcmp(base, prefix.utf8Start, count) == 0
    else { return nil }
    return UnsafeRawBufferPointer(rebasing: bytes.dropFirst(count))
  }

  private static func dropBlanks(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes.drop { $0 == 0x20 || $0 == 0x09 })
  }

  /// Returns the number at the beginning of the bytes, without its fraction.
  private static func number(_ bytes: UnsafeRawBufferPointer) -> Int64? {
    var value: Int64 = 0
    var digits = 0
    for byte in bytes {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte), digits < 16 else { break }
      value = value * 10 + Int64(byte - UInt8(ascii: "0"))
      digits += 1
    }
    return digits > 0 ? value : nil
  }
}

/// Converts metadata keys to field names that journald accepts: `[A-Z0-9_]`, at most 64 bytes, with
/// neither a digit nor `_` first. journald drops a field with any other name *without an error*
/// (systemd.journal-fields(7)).
package enum JournalFieldName {
  /// The prefix of all field names of this program.
  package static let prefix = "LIVEHOST_"

  private static let maximumLength = 64

  /// Returns the name for a metadata key: `room` is `LIVEHOST_ROOM`, `durationUsec` and
  /// `duration-usec` are `LIVEHOST_DURATION_USEC`, `HTTPStatus` is `LIVEHOST_HTTP_STATUS`. A prefix
  /// in the key is not repeated. A sequence of characters other than ASCII letters and digits
  /// becomes one `_`; a key without any letter or digit becomes `LIVEHOST_FIELD`. Takes O(length of
  /// the key).
  package static func make(_ key: String) -> String {
    let source = Array(key.utf8)
    // Capitals mark the starts of words only if the key also has lower-case letters, so that a key
    // that is already a field name stays unchanged.
    let hasWords = source.contains(where: isLower)
    var name: [UInt8] = []
    for (index, byte) in source.enumerated() {
      guard let upper = uppercased(byte) else {
        if let last = name.last, last != underscore { name.append(underscore) }
        continue
      }
      if hasWords, startsWord(source, at: index), let last = name.last, last != underscore {
        name.append(underscore)
      }
      name.append(upper)
    }
    if name.starts(with: prefix.utf8) { name.removeFirst(prefix.utf8.count) }
    name = Array(name.prefix(maximumLength - prefix.utf8.count))
    while name.last == underscore { name.removeLast() }
    return prefix + (name.isEmpty ? "FIELD" : String(decoding: name, as: UTF8.self))
  }

  private static let underscore = UInt8(ascii: "_")

  /// Returns whether an upper-case letter starts a word: after a lower-case letter or a digit, and
  /// before a lower-case letter at the end of a run of capitals.
  private static func startsWord(_ source: [UInt8], at index: Int) -> Bool {
    guard isUpper(source[index]), index > 0 else { return false }
    let previous = source[index - 1]
    if isLower(previous) || isDigit(previous) { return true }
    return isUpper(previous) && index + 1 < source.count && isLower(source[index + 1])
  }

  private static func uppercased(_ byte: UInt8) -> UInt8? {
    if isUpper(byte) || isDigit(byte) { return byte }
    return isLower(byte) ? byte - 0x20 : nil
  }

  private static func isUpper(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
  }

  private static func isLower(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}

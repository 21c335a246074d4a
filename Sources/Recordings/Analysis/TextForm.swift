import LiveEvents

/// The form of a text by which near-duplicates are found: normalised, with a MinHash signature of
/// its runs of four bytes.
///
/// Texts that differ only in case, digits, repetition and white space have the same form. Other
/// texts are compared by signatures of 20 minima in 5 bands of 4. Two texts that share 80 % of
/// their runs agree in some band with a probability of 93 %; two that share 50 %, with 28 %. Such
/// texts are nearly identical if 14 of the 20 minima are equal.
struct TextForm {
  static let bands = 5
  private static let rows = 4
  static let minima = bands * rows
  private static let agreement = 14
  /// The length of the shortest text that is compared. Many people write the same short texts.
  static let shortest = 12
  /// The number of bytes that are compared.
  static let longest = 512

  private static let seeds: [UInt64] = (1...UInt64(minima)).map { TextHash.mix($0) | 1 }

  private var normalized: [UInt8] = []
  private(set) var minimum = [UInt32](repeating: .max, count: minima)

  /// Reads a text. Returns the hash of its form; `nil` if the text is too short to be compared.
  mutating func read(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64? {
    normalize(bytes)
    return normalized.count < Self.shortest ? nil : TextHash.of(normalized)
  }

  /// Converts a text to lower case, shortens runs of the same byte to two, and removes digits and
  /// superfluous spaces.
  private mutating func normalize(_ bytes: UnsafeBufferPointer<UInt8>) {
    normalized.removeAll(keepingCapacity: true)
    for byte in bytes.prefix(Self.longest) {
      let byte = byte.asciiLowercased
      if byte &- UInt8(ascii: "0") < 10 { continue }
      let count = normalized.count
      if byte == 0x20, normalized.last == 0x20 || count == 0 { continue }
      if count >= 2, normalized[count - 1] == byte, normalized[count - 2] == byte { continue }
      normalized.append(byte)
    }
    if normalized.last == 0x20 { normalized.removeLast() }
  }

  /// Computes the signature ``minimum`` of the text that was read.
  mutating func sign() {
    for index in minimum.indices { minimum[index] = .max }
    normalized.withUnsafeBytes { bytes in
      for offset in 0...(bytes.count - 4) {
        let run = UInt64(bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
        let base = TextHash.mix(run)
        for index in 0..<Self.minima {
          let value = UInt32(truncatingIfNeeded: (base &* Self.seeds[index]) >> 32)
          if value < minimum[index] { minimum[index] = value }
        }
      }
    }
  }

  /// Returns the key of a band, which is equal for texts that agree in the band.
  func key(ofBand band: Int) -> UInt64 {
    var key = UInt64(band)
    for row in 0..<Self.rows {
      key = TextHash.mix(key ^ UInt64(minimum[band * Self.rows + row]))
    }
    return key
  }

  /// Whether the signature that begins at `start` belongs to a nearly identical text.
  func agrees(_ signatures: ChunkedArray<UInt32>, at start: Int) -> Bool {
    var same = 0
    for index in 0..<Self.minima where signatures[start + index] == minimum[index] { same += 1 }
    return same >= Self.agreement
  }
}

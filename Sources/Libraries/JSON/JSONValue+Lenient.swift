extension JSONValue {
  /// Parses one JSON value as programs write it in practice, so that one invalid value does not
  /// make the whole text unusable.
  ///
  /// Valid text is parsed unchanged. In other text, these faults are repaired first: a byte-order
  /// mark, bytes that are not UTF-8, escaped lone surrogates, raw control characters in strings,
  /// `NaN` and infinities, numbers beyond the range of a `Double`, and values that are nested too
  /// deeply.
  /// - Complexity: O(length).
  package init?(lenient bytes: some Collection<UInt8>, limits: JSONLimits = JSONLimits()) {
    if let value = try? JSONValue(parsing: bytes, limits: limits) {
      self = value
      return
    }
    var repair = JSONRepair(bytes)
    guard let value = try? JSONValue(parsing: repair.repaired(), limits: limits) else { return nil }
    self = value
  }
}

extension JSONValue {
  /// A finite number, from a number or a text that contains one; otherwise `nil`.
  package var looseNumber: Double? {
    let number: Double? =
      switch self {
      case .integer(let integer): Double(integer)
      case .number(let number): number
      case .string(let text): Double(text)
      case .null, .bool, .array, .object: nil
      }
    return number.flatMap { $0.isFinite ? $0 : nil }
  }
}

/// Rewrites JSON text so that a strict parser accepts it.
private struct JSONRepair {
  /// Well below ``JSONValue/maximumDepth``, because the text may become part of another.
  private static let maximumDepth = 100
  private static let null = Array("null".utf8)
  /// Words that programs write for numbers that JSON does not have.
  private static let numbers: Set = [
    "nan", "inf", "infinity", "-nan", "-inf", "-infinity", "+inf", "+infinity", "undefined",
  ]

  private let input: [UInt8]
  private var index = 0
  private var output: [UInt8] = []

  init(_ bytes: some Collection<UInt8>) {
    // Decoding replaces bytes that are not UTF-8 by U+FFFD.
    let text = Array(String(decoding: bytes, as: UTF8.self).utf8)
    input = text.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(text.dropFirst(3)) : text
  }

  mutating func repaired() -> [UInt8] {
    output.reserveCapacity(input.count)
    var depth = 0
    while index < input.count {
      let byte = input[index]
      switch byte {
      case UInt8(ascii: "\""): copyString()
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        if depth == Self.maximumDepth {
          skipNested()
          output += Self.null
          continue
        }
        depth += 1
        copyByte()
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        copyByte()
      case UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
        UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"):
        copyWord()
      default: copyByte()
      }
    }
    return output
  }

  private mutating func copyByte() {
    output.append(input[index])
    index += 1
  }

  /// Copies a number or a word. A number that JSON does not have becomes null.
  private mutating func copyWord() {
    let word = input[index...].prefix {
      $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: ".")
        || (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20)
    }
    index += word.count
    let text = String(decoding: word, as: UTF8.self)
    // Normalises the number for JSON: some programs write `+5` and `01`.
    let number =
      Int64(text).map { "\($0)" } ?? Double(text).flatMap { $0.isFinite ? $0.description : nil }
    if let number {
      output += Array(number.utf8)
    } else if (0x30...0x39).contains(word.last ?? 0) || Self.numbers.contains(text.lowercased()) {
      output += Self.null
    } else {
      output += word
    }
  }

  /// Skips an object or array, including its content.
  private mutating func skipNested() {
    var depth = 0
    while index < input.count {
      switch input[index] {
      case UInt8(ascii: "\""):
        let start = output.count
        copyString()
        output.removeLast(output.count - start)
        continue
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      default: break
      }
      index += 1
      if depth == 0 { return }
    }
  }

  private mutating func copyString() {
    copyByte()
    while index < input.count {
      let byte = input[index]
      switch byte {
      case UInt8(ascii: "\""): return copyByte()
      case UInt8(ascii: "\\"): copyEscape()
      case ..<0x20:
        output += Array("\\u00".utf8) + [hexadecimal(byte >> 4), hexadecimal(byte & 15)]
        index += 1
      default: copyByte()
      }
    }
  }

  private mutating func copyEscape() {
    guard let unit = unit(at: index), (0xD800...0xDFFF).contains(unit) else {
      copyByte()
      if index < input.count { copyByte() }
      return
    }
    let isPair =
      unit < 0xDC00 && self.unit(at: index + 6).map { (0xDC00...0xDFFF).contains($0) } == true
    output += isPair ? Array(input[index..<(index + 12)]) : Array("\\uFFFD".utf8)
    index += isPair ? 12 : 6
  }

  /// Returns the number in `\uXXXX`.
  private func unit(at start: Int) -> UInt32? {
    guard start + 6 <= input.count, input[start] == UInt8(ascii: "\\"),
      input[start + 1] == UInt8(ascii: "u")
    else { return nil }
    return UInt32(String(decoding: input[(start + 2)..<(start + 6)], as: UTF8.self), radix: 16)
  }

  private func hexadecimal(_ digit: UInt8) -> UInt8 {
    digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
  }
}

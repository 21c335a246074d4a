/// Parses literals and numbers of JSON (RFC 8259, sections 3 and 6).
enum JSONScalar {
  /// Returns the kind of the literal or number at `bytes`, or `nil` if it is neither.
  static func kind(of bytes: UnsafePointer<UInt8>, count: Int) -> TokenValue.Kind? {
    switch bytes[0] {
    case UInt8(ascii: "t"): spells("true", bytes, count) ? .yes : nil
    case UInt8(ascii: "f"): spells("false", bytes, count) ? .no : nil
    case UInt8(ascii: "n"): spells("null", bytes, count) ? .null : nil
    default: Digits.areLongInteger(bytes, count) ? .integer : number(bytes, count)
    }
  }

  private static func spells(
    _ literal: StaticString, _ bytes: UnsafePointer<UInt8>, _ count: Int
  ) -> Bool {
    guard count == literal.utf8CodeUnitCount else { return false }
    for position in 0..<count where bytes[position] != literal.utf8Start[position] { return false }
    return true
  }

  private static func number(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> TokenValue.Kind? {
    var position = bytes[0] == UInt8(ascii: "-") ? 1 : 0
    let whole = digits(bytes, from: position, to: count)
    guard whole > position, whole == position + 1 || bytes[position] != UInt8(ascii: "0") else {
      return nil
    }
    if whole == count { return .integer }
    position = whole
    if bytes[position] == UInt8(ascii: ".") {
      let fraction = digits(bytes, from: position + 1, to: count)
      guard fraction > position + 1 else { return nil }
      position = fraction
    }
    if position < count, bytes[position] | 0x20 == UInt8(ascii: "e") {
      position += 1
      if position < count,
        bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-")
      {
        position += 1
      }
      let exponent = digits(bytes, from: position, to: count)
      guard exponent > position else { return nil }
      position = exponent
    }
    return position == count ? .decimal : nil
  }

  @inline(__always)
  private static func digits(
    _ bytes: UnsafePointer<UInt8>, from start: Int, to limit: Int
  ) -> Int {
    var position = start
    while position < limit, bytes[position] &- UInt8(ascii: "0") <= 9 { position += 1 }
    return position
  }

  /// Returns the value of a number of kind `integer`, or `nil` if it has too many digits.
  static func integer(_ bytes: UnsafePointer<UInt8>, count: Int) -> Int? {
    let isNegative = bytes[0] == UInt8(ascii: "-")
    // 18 digits always fit. Longer numbers are outside all ranges used here.
    guard count <= (isNegative ? 19 : 18) else { return nil }
    var value = 0
    var position = isNegative ? 1 : 0
    while position &+ 8 <= count {
      value = value &* 100_000_000 &+ Digits.value(ofEightAt: bytes + position)
      position &+= 8
    }
    for position in position..<count {
      value = value &* 10 &+ Int(bytes[position] &- UInt8(ascii: "0"))
    }
    return isNegative ? -value : value
  }

  /// Returns the double nearest to a number of either kind, or infinity if the number is too large.
  static func double(_ bytes: UnsafePointer<UInt8>, count: Int) -> Double {
    var mantissa: UInt64 = 0
    var digits = 0
    var scale = 0
    var isFraction = false
    var position = bytes[0] == UInt8(ascii: "-") ? 1 : 0
    while position < count {
      let digit = bytes[position] &- UInt8(ascii: "0")
      if digit <= 9 {
        mantissa = mantissa &* 10 &+ UInt64(digit)
        digits += 1
        if isFraction { scale += 1 }
      } else if bytes[position] == UInt8(ascii: ".") {
        isFraction = true
      } else {
        // The standard library handles exponents, which are rare.
        digits = .max
        break
      }
      position += 1
    }
    // Clinger's fast path: both operands are exact, so one division rounds correctly.
    if digits <= 15 {
      let value = Double(mantissa) / powersOfTen[scale]
      return bytes[0] == UInt8(ascii: "-") ? -value : value
    }
    let text = String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    return Double(text) ?? .infinity
  }

  private static let powersOfTen: [Double] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
  ]
}

/// Validates escapes in JSON strings (RFC 8259, section 7).
enum JSONEscapes {
  /// Returns whether every backslash begins a valid escape. A lone surrogate is valid and is read
  /// as U+FFFD.
  static func areValid(_ bytes: UnsafePointer<UInt8>, count: Int) -> Bool {
    var position = 0
    while position < count {
      guard bytes[position] == UInt8(ascii: "\\") else {
        position += 1
        continue
      }
      guard position + 1 < count else { return false }
      switch bytes[position + 1] {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
        UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
        position += 2
      case UInt8(ascii: "u"):
        guard position + 6 <= count, (2..<6).allSatisfy({ isHexadecimal(bytes[position + $0]) })
        else {
          return false
        }
        position += 6
      default: return false
      }
    }
    return true
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    byte &- UInt8(ascii: "0") <= 9 || (byte | 0x20) &- UInt8(ascii: "a") <= 5
  }
}

/// The colour that a person has chosen for their name on a platform.
public struct NameColor: Hashable, Sendable {
  /// The red, green, and blue components, eight bits each: `0xRRGGBB`.
  public let rgb: UInt32

  public init(rgb: UInt32) { self.rgb = rgb & 0xFF_FFFF }

  /// Parses `#RRGGBB`, the format of platforms. Returns `nil` for any other text.
  @inlinable
  public init?(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard bytes.count == 7, bytes[0] == UInt8(ascii: "#") else { return nil }
    var rgb: UInt32 = 0
    for index in 1..<7 {
      let byte = bytes[index]
      let letter = (byte | 0x20) &- UInt8(ascii: "a")
      let digit = byte &- UInt8(ascii: "0")
      guard digit <= 9 || letter <= 5 else { return nil }
      rgb = rgb << 4 | UInt32(digit <= 9 ? digit : letter + 10)
    }
    self.rgb = rgb
  }

  public init?(_ text: String) {
    var text = text
    guard let color = text.withUTF8({ NameColor($0) }) else { return nil }
    self = color
  }
}

extension NameColor: CustomStringConvertible {
  /// The colour as a text such as `#1E90FF`.
  public var description: String {
    let digits = String(rgb, radix: 16, uppercase: true)
    return "#" + String(repeating: "0", count: 6 - digits.count) + digits
  }
}

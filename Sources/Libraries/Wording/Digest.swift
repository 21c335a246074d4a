/// A number that identifies a sequence of numbers: FNV-1a over 64 bits at a time.
package struct Digest: Sendable {
  package private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  package init() {}

  package mutating func add(_ number: UInt64) {
    // Folds in the high half, because multiplication carries only upwards.
    value = (value ^ number) &* 0x0000_0100_0000_01B3
    value ^= value >> 32
  }

  /// The digest as sixteen hexadecimal digits.
  package var text: String { Self.text(value) }

  package static func text(_ value: UInt64) -> String { Format.padded(value, 16, radix: 16) }
}

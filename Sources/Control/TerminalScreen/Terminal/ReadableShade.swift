import Glibc

extension TextStyle.Shade {
  /// Parses `#RRGGBB`; fails for other text.
  init?(_ text: String) {
    guard text.utf8.count == 7, text.first == "#", let rgb = UInt32(text.dropFirst(), radix: 16)
    else { return nil }
    self.init(
      red: UInt8(rgb >> 16 & 0xFF), green: UInt8(rgb >> 8 & 0xFF), blue: UInt8(rgb & 0xFF))
  }

  /// This colour with its luminance changed, if necessary, to be readable on black and on white.
  /// The hue stays the same. People choose their colours for the background of their chat platform,
  /// not for the background of a terminal.
  package var readable: Self {
    let parts = [red, green, blue].map { pow(Double($0) / 255, Self.gamma) }
    let luminance = 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    func with(_ change: (Double) -> Double) -> Self {
      let parts = parts.map { UInt8((pow(change($0), 1 / Self.gamma) * 255).rounded()) }
      return Self(red: parts[0], green: parts[1], blue: parts[2])
    }
    if luminance > Self.luminances.upperBound {
      return with { $0 * Self.luminances.upperBound / luminance }
    }
    if luminance < Self.luminances.lowerBound {
      let share = (Self.luminances.lowerBound - luminance) / (1 - luminance)
      return with { $0 + (1 - $0) * share }
    }
    return self
  }

  private static let gamma = 2.2
  /// The luminances that have a contrast of at least 4.5 to black and 3 to white.
  private static let luminances = 0.18...0.3
}

import Glibc

/// Where the fader of OBS's own mixer is for a volume: the slider of the screen is at the same place.
///
/// The fader is logarithmic: 102 decibels, its upper end being 0 dB, bent by an offset of 6 dB.
enum ObsFader {
  private static let offset = 6.0
  private static let range = 96.0
  private static let top = log10(offset)
  private static let bottom = log10(offset + range)

  /// From 0 to 1. A volume above 0 dB, which the fader cannot show, is 1.
  static func position(decibels: Double) -> Double {
    guard decibels > -range else { return 0 }
    guard decibels < 0 else { return 1 }
    return min(max((bottom - log10(offset - decibels)) / (bottom - top), 0), 1)
  }

  /// The volume at a position above 0, which itself is silence.
  static func decibels(position: Double) -> Double {
    min(offset - pow(10, bottom - position * (bottom - top)), 0)
  }
}

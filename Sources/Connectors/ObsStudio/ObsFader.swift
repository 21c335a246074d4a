import Glibc

/// Converts between volumes and positions of OBS's faders, so that a slider on the screen has the
/// same position as OBS's fader. A fader covers -96 dB to 0 dB. Its position depends linearly on
/// the logarithm of the difference between 6 dB and the volume.
enum ObsFader {
  private static let offset = 6.0
  private static let range = 96.0
  private static let top = log10(offset)
  private static let bottom = log10(offset + range)

  /// Returns a position from 0 to 1. Volumes above 0 dB exceed the fader's range and give 1.
  static func position(decibels: Double) -> Double {
    guard decibels > -range else { return 0 }
    guard decibels < 0 else { return 1 }
    return min(max((bottom - log10(offset - decibels)) / (bottom - top), 0), 1)
  }

  /// Returns the volume at a position above 0. Position 0 is silence.
  static func decibels(position: Double) -> Double {
    min(offset - pow(10, bottom - position * (bottom - top)), 0)
  }
}

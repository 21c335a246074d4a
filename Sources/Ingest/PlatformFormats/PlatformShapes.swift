import JSON
import LiveEvents

/// Shapes that several platforms have.
extension JSONShape {
  /// The name of a channel, which names a room.
  static let channel = test { $0.stringValue?.channelRoom != nil }
  static let color = test { $0.isColor }
  /// A piece of a text. Behind one that is longer than positions reach, nobody knows where emotes are.
  static let piece = test {
    ($0.stringValue?.unicodeScalars.count ?? .max) <= EmoteRanges.positions.upperBound
  }
  /// A point in time with a zone.
  static let time = test { $0.stringValue.flatMap { PlatformTime.milliseconds($0) } != nil }
  /// A point in time, which is UTC if it names no zone.
  static let timeOrUTC = test {
    $0.stringValue.flatMap { PlatformTime.milliseconds($0, orUTC: true) } != nil
  }
}

extension JSONValue {
  var isColor: Bool { stringValue.flatMap { NameColor($0) } != nil }
}

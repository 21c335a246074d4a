import JSON
import LiveEvents

/// Conditions on JSON values that several platforms share.
extension JSONShape {
  /// The name of a channel that is also a valid room name.
  static let channel = test { $0.stringValue?.channelRoom != nil }
  static let color = test { $0.isColor }
  /// A piece of a text. The positions of emotes cannot be computed after a longer piece.
  static let piece = test {
    ($0.stringValue?.unicodeScalars.count ?? .max) <= EmoteRanges.positions.upperBound
  }
  /// A point in time with a zone.
  static let time = test { $0.stringValue.flatMap { PlatformTime.milliseconds($0) } != nil }
  /// A point in time, in UTC if it names no zone.
  static let timeOrUTC = test {
    $0.stringValue.flatMap { PlatformTime.milliseconds($0, orUTC: true) } != nil
  }
}

extension JSONValue {
  var isColor: Bool { stringValue.flatMap { NameColor($0) } != nil }
}

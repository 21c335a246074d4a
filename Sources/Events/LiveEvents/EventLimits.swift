/// Bounds of what an event may say. What exceeds them is rejected.
///
/// Computed, so that decoders see constants.
public enum EventLimits {
  /// Time stamps in milliseconds: 1970 to the end of the year 9999.
  @inlinable public static var timestamps: ClosedRange<Timestamp> { 0...253_402_300_799_999 }
  /// Identifiers, names and words that messages are searched for, in bytes of UTF-8. Strangers
  /// choose them, and they are kept for as long as a room lives.
  @inlinable public static var nameLength: Int { 256 }
  /// Titles of streams, which are cut, and of polls, in bytes of UTF-8: ten times what platforms allow.
  /// Titles are compared as text, the cost of which may grow with the square of their length.
  @inlinable public static var titleLength: Int { 1024 }
  /// Counts that reducers add up: billions of events of this size fit in 64 bits.
  @inlinable public static var count: ClosedRange<Int> { 0...1_000_000_000 }
  /// Totals that are compared, never added: up to 2 to the 53rd, which a JSON number still holds.
  @inlinable public static var total: ClosedRange<Int> { 0...9_007_199_254_740_992 }
  /// Measurements, in whatever unit.
  @inlinable public static var measure: ClosedRange<Double> { 0.0...1e12 }
  /// Shares, levels and values of sliders.
  @inlinable public static var fraction: ClosedRange<Double> { 0.0...1.0 }
}

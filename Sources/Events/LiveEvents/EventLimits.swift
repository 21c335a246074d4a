/// The limits of an event's values. Events that exceed them are rejected.
///
/// The limits are computed properties, so that decoders see constants.
public enum EventLimits {
  /// Timestamps in milliseconds: from 1970 to the end of the year 9999.
  @inlinable public static var timestamps: ClosedRange<Timestamp> { 0...253_402_300_799_999 }
  /// The maximum length of identifiers, names, and search words, in bytes of UTF-8. They are
  /// untrusted, and kept for the lifetime of a room.
  @inlinable public static var nameLength: Int { 256 }
  /// The maximum length of the titles of streams (which are truncated) and of polls, in bytes of
  /// UTF-8: ten times the platforms' limits. Titles are compared as text, whose cost may grow with
  /// the square of the length.
  @inlinable public static var titleLength: Int { 1024 }
  /// Counts that reducers add up. The sum of billions of such events fits in 64 bits.
  @inlinable public static var count: ClosedRange<Int> { 0...1_000_000_000 }
  /// Totals that are compared but never added: up to 2^53, the largest exact integer in a JSON
  /// number.
  @inlinable public static var total: ClosedRange<Int> { 0...9_007_199_254_740_992 }
  /// Measurements in any unit.
  @inlinable public static var measure: ClosedRange<Double> { 0.0...1e12 }
  /// Shares, levels, and values of sliders.
  @inlinable public static var fraction: ClosedRange<Double> { 0.0...1.0 }
}

/// The limits of an event's values. Decoders reject events that exceed them. The limits are
/// computed properties so that the compiler treats them as constants.
public enum EventLimits {
  /// The valid timestamps in milliseconds, from 1970 to the end of the year 9999.
  @inlinable public static var timestamps: ClosedRange<Timestamp> { 0...253_402_300_799_999 }
  /// The maximum length of identifiers, names, and search words, in bytes of UTF-8. A room keeps
  /// these untrusted texts for its lifetime.
  @inlinable public static var nameLength: Int { 256 }
  /// The maximum length of poll titles and stream titles in bytes of UTF-8: ten times the
  /// platforms' limits. Longer stream titles are truncated. Comparing two titles may take time
  /// quadratic in the length.
  @inlinable public static var titleLength: Int { 1024 }
  /// The maximum length of any other text, in bytes of UTF-8: the maximum length of an input line.
  @inlinable public static var textLength: Int { 64 * 1024 }
  /// The limits of counts that reducers add up. A sum of billions of counts fits in 64 bits.
  @inlinable public static var count: ClosedRange<Int> { 0...1_000_000_000 }
  /// The limits of totals that are compared but never added. 2^53 is the largest exact integer in a
  /// JSON number.
  @inlinable public static var total: ClosedRange<Int> { 0...9_007_199_254_740_992 }
  /// The limits of measurements in any unit.
  @inlinable public static var measure: ClosedRange<Double> { 0.0...1e12 }
  /// The limits of fractions, such as levels and slider values.
  @inlinable public static var fraction: ClosedRange<Double> { 0.0...1.0 }
}

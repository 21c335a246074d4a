import ViewGraph

/// The record of turns for thresholds, which gives exact figures for any part of a run. The record
/// stays small: a turn shorter than a microhang is kept only if it is longer than all later turns.
struct TurnRecord: Hashable, Sendable {
  private struct Turn: Hashable, Sendable {
    var start: Int64
    var length: Int64
    var appearance: Int64

    func counted(_ window: TurnWindow) -> Int64 {
      window.withoutAppearance ? max(0, length - appearance) : length
    }
  }

  private struct Length: Hashable, Sendable {
    /// The longest turn in this group.
    var highest: Int64
    var count: Int
  }

  /// The length, in nanoseconds, below which turns are not counted by length.
  static let shortestBound: Int64 = 1_000_000

  let bounds: HangBounds
  /// The microhangs and hangs.
  private var long: [Turn] = []
  /// Turns that are longer than all later turns.
  private var longest: [Turn] = []
  /// Turns that are longer than all later turns, compared without the cost of appearing views.
  private var longestWithoutAppearance: [Turn] = []
  /// The number of turns of each length, within 0.4 %; none below a millisecond.
  private var lengths: [Length] = []

  init(bounds: HangBounds) { self.bounds = bounds }

  /// The number of kept turns. A turn may be counted more than once.
  var count: Int { long.count + longest.count + longestWithoutAppearance.count }

  /// Adds a turn. Turns of zero length must not be added, because no threshold depends on them.
  mutating func add(start: Int64, length: Int64, appearance: Int64) {
    let turn = Turn(start: start, length: length, appearance: appearance)
    if length >= Int64(clamping: bounds.microhang) { long.append(turn) }
    Self.append(turn, to: &longest, TurnWindow())
    Self.append(turn, to: &longestWithoutAppearance, TurnWindow(withoutAppearance: true))
  }

  private static func append(_ turn: Turn, to turns: inout [Turn], _ window: TurnWindow) {
    let length = turn.counted(window)
    while let last = turns.last, last.counted(window) <= length { turns.removeLast() }
    turns.append(turn)
  }

  func count(_ hangClass: HangClass, in window: TurnWindow) -> Int {
    long.count {
      $0.start >= window.start
        && HangClass(nanoseconds: UInt64($0.counted(window)), bounds: bounds) == hangClass
    }
  }

  /// Stores the number of turns of each length, at the end of the run.
  mutating func recordLengths(_ turns: DurationHistogram) {
    lengths = turns.counts(from: Self.shortestBound).map { Length(highest: $0, count: $1) }
  }

  /// Returns the number of turns of at least this length that began in the window. The number is
  /// exact if `bound` is at least the bound of microhangs. For smaller bounds, turns that are up to
  /// 0.4 % shorter count too, and the result is `nil` if the window is restricted.
  func count(over bound: Int64, in window: TurnWindow) -> Int? {
    if bound >= Int64(clamping: bounds.microhang) {
      return long.count { $0.start >= window.start && $0.counted(window) >= bound }
    }
    guard window == TurnWindow() else { return nil }
    return lengths.reduce(0) { $0 + ($1.highest >= bound ? $1.count : 0) }
  }

  /// Whether a turn of non-zero length began in the window.
  func hasTurns(in window: TurnWindow) -> Bool {
    longest.last.map { $0.start >= window.start } ?? false
  }

  /// Returns the longest turn that began in the window; 0 if there is none.
  func longest(in window: TurnWindow) -> Int64 {
    let turns = window.withoutAppearance ? longestWithoutAppearance : longest
    return turns.first { $0.start >= window.start }?.counted(window) ?? 0
  }
}

/// The turns and costs that a threshold considers.
struct TurnWindow: Hashable, Sendable {
  /// The earliest start of a turn that counts.
  var start: Int64 = 0
  /// Whether the one-time cost of appearing views is excluded.
  var withoutAppearance = false
}

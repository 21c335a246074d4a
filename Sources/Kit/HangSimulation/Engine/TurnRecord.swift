import ViewGraph

/// What thresholds may ask about turns: exact for any part of the run, and small, since of the short turns only
/// those are kept that are longer than all after them.
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
    /// The longest that counts here.
    var highest: Int64
    var count: Int
  }

  /// Shorter turns are not counted by their lengths.
  static let shortestBound: Int64 = 1_000_000

  let bounds: HangBounds
  /// Microhangs and hangs.
  private var long: [Turn] = []
  /// Each longer than all after it.
  private var longest: [Turn] = []
  /// The same without the cost of views that appeared.
  private var longestWithoutAppearance: [Turn] = []
  /// How many turns of each length there were, in nanoseconds within 0.4 %; none below a millisecond.
  private var lengths: [Length] = []

  init(bounds: HangBounds) { self.bounds = bounds }

  /// How many turns it keeps; one may count more than once.
  var count: Int { long.count + longest.count + longestWithoutAppearance.count }

  /// Not for turns that took no time, which no threshold asks about.
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

  /// How many turns of a class began in the window.
  func count(_ hangClass: HangClass, in window: TurnWindow) -> Int {
    long.count {
      $0.start >= window.start
        && HangClass(nanoseconds: UInt64($0.counted(window)), bounds: bounds) == hangClass
    }
  }

  /// Keeps how many turns there were of each length, at the end of the run.
  mutating func noteLengths(_ turns: DurationHistogram) {
    lengths = turns.counts(from: Self.shortestBound).map { Length(highest: $0, count: $1) }
  }

  /// How many turns of at least this length began in the window: exact from the bound of microhangs on. Below that, turns
  /// that are up to 0.4 % shorter count too, and a window is not known: `nil`.
  func count(over bound: Int64, in window: TurnWindow) -> Int? {
    if bound >= Int64(clamping: bounds.microhang) {
      return long.count { $0.start >= window.start && $0.counted(window) >= bound }
    }
    guard window == TurnWindow() else { return nil }
    return lengths.reduce(0) { $0 + ($1.highest >= bound ? $1.count : 0) }
  }

  /// Whether a turn that took time began in the window.
  func hasTurns(in window: TurnWindow) -> Bool {
    longest.last.map { $0.start >= window.start } ?? false
  }

  /// The longest turn that began in the window; 0 if there is none.
  func longest(in window: TurnWindow) -> Int64 {
    let turns = window.withoutAppearance ? longestWithoutAppearance : longest
    return turns.first { $0.start >= window.start }?.counted(window) ?? 0
  }
}

/// Which turns a threshold is about, and what counts of them.
struct TurnWindow: Hashable, Sendable {
  /// Turns that begin earlier do not count.
  var start: Int64 = 0
  /// Whether what views cost once, when they appear, is left out.
  var withoutAppearance = false
}

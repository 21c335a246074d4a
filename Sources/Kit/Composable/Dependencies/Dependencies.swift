/// What features need from the world besides their inputs and outputs; passed to reducers
/// explicitly.
///
///     @Reducer
///     struct Room {
///       let dependencies: Dependencies
///       …
///       case .opened: state.id = dependencies.identifiers.next()
///     }
///
/// A program passes ``live()``; a test passes those of `ComposableTesting`, where using anything
/// that the test did not set is a failure that names it.
public struct Dependencies: Sendable {
  /// Time: for effects that wait. Reducers get time in their actions.
  public var clock: any Clock<Duration>
  /// Identifiers of new things.
  public var identifiers: Identifiers
  /// Random numbers.
  public var randomness: Randomness
  private var values: [ObjectIdentifier: any Sendable] = [:]
  /// Called with the name of a custom dependency that was used without being set; `nil` if the live
  /// one is used then.
  public var onUnset: (@Sendable (_ name: String) -> Void)?

  /// Dependencies of your choice; see also ``live()``.
  public init(clock: any Clock<Duration>, identifiers: Identifiers, randomness: Randomness) {
    self.clock = clock
    self.identifiers = identifiers
    self.randomness = randomness
  }

  /// The real world: a running clock, identifiers that count from 1, the system's randomness.
  public static func live() -> Dependencies {
    Dependencies(clock: ContinuousClock(), identifiers: .counting(), randomness: .system)
  }
}

/// A custom dependency, found by its type.
///
///     struct SongClient: DependencyValue {
///       var next: @Sendable () async throws -> String
///       static var live: SongClient { SongClient { try await download() } }
///     }
///     …
///     let client = dependencies[SongClient.self]
public protocol DependencyValue: Sendable {
  /// The one that talks to the real world.
  static var live: Self { get }
  /// What a test that did not set one gets, after the failure that says so. By default ``live``.
  static var unset: Self { get }
}

extension DependencyValue {
  public static var unset: Self { live }
}

extension Dependencies {
  /// The dependency of this type: the one that was set, otherwise the live one. Using it in a test
  /// that did not set it is a failure that names it.
  public subscript<Value: DependencyValue>(_: Value.Type) -> Value {
    get {
      if let value = values[ObjectIdentifier(Value.self)] as? Value { return value }
      guard let onUnset else { return .live }
      onUnset("\(Value.self)")
      return .unset
    }
    set { values[ObjectIdentifier(Value.self)] = newValue }
  }

  /// The same dependencies with one replaced, for a part of the tree of features.
  ///
  ///     Preview(dependencies: dependencies.overriding(SongClient { "Blue in Green" }))
  public func overriding<Value: DependencyValue>(_ value: Value) -> Dependencies {
    var copy = self
    copy[Value.self] = value
    return copy
  }

  /// The same dependencies with the value at `path` replaced, for a part of the tree of features.
  public func overriding<Value>(
    _ path: WritableKeyPath<Dependencies, Value>, with value: Value
  ) -> Dependencies {
    var copy = self
    copy[keyPath: path] = value
    return copy
  }
}

/// A source of identifiers, each different from those before.
public struct Identifiers: Sendable {
  private let generate: @Sendable () -> UInt64

  /// A source that asks `generate`, which must never return the same number twice.
  public init(_ generate: @escaping @Sendable () -> UInt64) { self.generate = generate }

  /// The next identifier. Callable from any thread.
  public func next() -> UInt64 { generate() }

  /// Counts upwards: the same in each run.
  public static func counting(from first: UInt64 = 1) -> Identifiers {
    let counter = Counter(first)
    return Identifiers { counter.next() }
  }
}

/// A source of random numbers.
public struct Randomness: Sendable {
  private let generate: @Sendable () -> UInt64

  /// A source that asks `generate` for 64 random bits at a time; it may be called from any thread.
  public init(_ generate: @escaping @Sendable () -> UInt64) { self.generate = generate }

  /// 64 random bits.
  public func next() -> UInt64 { generate() }

  /// A number in `range`; all are equally likely to within one part in 2^64.
  ///
  /// Takes exactly one number from the source and never draws again, so that a test may use a
  /// source that always returns the same number.
  public func next(in range: ClosedRange<Int>) -> Int {
    let last = UInt64(bitPattern: Int64(range.upperBound &- range.lowerBound))
    let bits = next()
    let offset = last == .max ? bits : bits.multipliedFullWidth(by: last + 1).high
    return range.lowerBound &+ Int(truncatingIfNeeded: offset)
  }

  /// The randomness of the operating system.
  public static var system: Randomness {
    Randomness {
      var generator = SystemRandomNumberGenerator()
      return generator.next()
    }
  }

  /// Numbers that follow from `seed`: the same in each run (SplitMix64).
  public static func seeded(_ seed: UInt64) -> Randomness {
    let counter = Counter(seed, step: 0x9E37_79B9_7F4A_7C15)
    return Randomness {
      var value = counter.next() &+ 0x9E37_79B9_7F4A_7C15
      value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
      value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
      return value ^ (value >> 31)
    }
  }
}

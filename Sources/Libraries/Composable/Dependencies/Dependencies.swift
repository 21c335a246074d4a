/// The external dependencies of features: time, identifiers, random numbers and clients, which are
/// passed to reducers explicitly.
///
///     @Reducer
///     struct Room {
///       let dependencies: Dependencies
///       …
///       case .opened: state.id = dependencies.identifiers.next()
///     }
///
/// A program passes ``live()``. A test passes the dependencies of `ComposableTesting`: using a
/// dependency that the test did not set then fails the test, with a message that names the
/// dependency.
public struct Dependencies: Sendable {
  /// The clock for effects that wait. Reducers receive points in time in their actions.
  public var clock: any Clock<Duration>
  /// The source of identifiers for new objects.
  public var identifiers: Identifiers
  /// The source of random numbers.
  public var randomness: Randomness
  private var values: [ObjectIdentifier: any Sendable] = [:]
  /// Called with the name of a custom dependency that is used but was not set. Without this
  /// closure, the live dependency is used.
  public var onUnset: (@Sendable (_ name: String) -> Void)?

  /// Makes dependencies from explicit values; see also ``live()``.
  public init(clock: any Clock<Duration>, identifiers: Identifiers, randomness: Randomness) {
    self.clock = clock
    self.identifiers = identifiers
    self.randomness = randomness
  }

  /// Returns a running clock, identifiers counted from 1, and the system's random numbers.
  public static func live() -> Dependencies {
    Dependencies(clock: ContinuousClock(), identifiers: .counting(), randomness: .system)
  }
}

/// A custom dependency, which is found by its type.
///
///     struct SongClient: DependencyValue {
///       var next: @Sendable () async throws -> String
///       static var live: SongClient { SongClient { try await download() } }
///     }
///     …
///     let client = dependencies[SongClient.self]
public protocol DependencyValue: Sendable {
  /// The implementation for production.
  static var live: Self { get }
  /// The implementation that a test gets after the use of an unset dependency was recorded as a
  /// failure. By default ``live``.
  static var unset: Self { get }
}

extension DependencyValue {
  public static var unset: Self { live }
}

extension Dependencies {
  /// The dependency of this type: the dependency that was set, or the live dependency. In a test,
  /// using a dependency that was not set is a failure that names the dependency.
  public subscript<Value: DependencyValue>(_: Value.Type) -> Value {
    get {
      if let value = values[ObjectIdentifier(Value.self)] as? Value { return value }
      guard let onUnset else { return .live }
      onUnset("\(Value.self)")
      return .unset
    }
    set { values[ObjectIdentifier(Value.self)] = newValue }
  }

  /// Returns a copy in which one dependency is replaced, for a part of the feature tree.
  ///
  ///     Preview(dependencies: dependencies.overriding(SongClient { "Blue in Green" }))
  public func overriding<Value: DependencyValue>(_ value: Value) -> Dependencies {
    var copy = self
    copy[Value.self] = value
    return copy
  }

  /// Returns a copy with the value at `path` replaced, for a part of the feature tree.
  public func overriding<Value>(
    _ path: WritableKeyPath<Dependencies, Value>, with value: Value
  ) -> Dependencies {
    var copy = self
    copy[keyPath: path] = value
    return copy
  }
}

/// A source of unique identifiers.
public struct Identifiers: Sendable {
  private let generate: @Sendable () -> UInt64

  /// Makes a source that calls `generate`, which must never return the same number twice.
  public init(_ generate: @escaping @Sendable () -> UInt64) { self.generate = generate }

  /// Returns the next identifier. Can be called from any thread.
  public func next() -> UInt64 { generate() }

  /// Returns a source that counts upwards, so identifiers are the same in each run.
  public static func counting(from first: UInt64 = 1) -> Identifiers {
    let counter = AtomicCounter(first)
    return Identifiers { counter.next() }
  }
}

/// A source of random numbers.
public struct Randomness: Sendable {
  private let generate: @Sendable () -> UInt64

  /// Makes a source from a function that returns 64 random bits and may run on any thread.
  public init(_ generate: @escaping @Sendable () -> UInt64) { self.generate = generate }

  /// Returns 64 random bits.
  public func next() -> UInt64 { generate() }

  /// Returns a number in `range`. All numbers are equally likely, to within one part in 2^64.
  ///
  /// Draws exactly one number from the source and never retries, so a test may use a source that
  /// always returns the same number.
  public func next(in range: ClosedRange<Int>) -> Int {
    let last = UInt64(bitPattern: Int64(range.upperBound &- range.lowerBound))
    let bits = next()
    let offset = last == .max ? bits : bits.multipliedFullWidth(by: last + 1).high
    return range.lowerBound &+ Int(truncatingIfNeeded: offset)
  }

  /// The random numbers of the operating system.
  public static var system: Randomness {
    Randomness {
      var generator = SystemRandomNumberGenerator()
      return generator.next()
    }
  }

  /// Returns a source whose numbers depend only on `seed` (SplitMix64).
  public static func seeded(_ seed: UInt64) -> Randomness {
    let counter = AtomicCounter(seed, step: 0x9E37_79B9_7F4A_7C15)
    return Randomness {
      var value = counter.next() &+ 0x9E37_79B9_7F4A_7C15
      value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
      value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
      return value ^ (value >> 31)
    }
  }
}

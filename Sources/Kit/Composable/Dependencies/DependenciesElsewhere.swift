// Dependencies of The Composable Architecture, which is kept apart from other names because these work together: a
// use has to compile up to the declaration whose error names the replacement.

@available(
  *, unavailable,
  message: "conform to DependencyValue: its 'live' is the liveValue, its 'unset' the testValue"
)
public protocol DependencyKey {}

@available(
  *, unavailable,
  message: "conform to DependencyValue: its 'live' is the liveValue, its 'unset' the testValue"
)
public protocol TestDependencyKey {}

/// Stands for the dependencies of an extension that is not needed here: a value is found by its type, as in
/// `dependencies[SongClient.self]`.
@dynamicMemberLookup
public struct DependencyValues {
  @available(
    *, unavailable,
    message:
      "a dependency is found by its type, as in 'dependencies[SongClient.self]': remove this extension"
  )
  public subscript<Value>(key: Value.Type) -> Value {
    get { unavailable() }
    set { unavailable() }
  }

  /// A dependency that does not exist here, so that its use compiles as far as the error that says what replaces it.
  public subscript(dynamicMember name: String) -> UnknownDependency {
    get { unavailable() }
    set { unavailable() }
  }

  /// Takes any value, for closures that override dependencies.
  public subscript<Value>(dynamicMember name: String) -> Value {
    get { unavailable() }
    set { unavailable() }
  }
}

/// Stands for a dependency that does not exist here, and for what is in it, as in `\.date.now`.
@dynamicMemberLookup
public struct UnknownDependency {
  /// What is in it.
  public subscript(dynamicMember name: String) -> UnknownDependency {
    get { unavailable() }
    nonmutating set { unavailable() }
  }

  /// Takes any value, for closures that override dependencies.
  public subscript<Value>(dynamicMember name: String) -> Value {
    get { unavailable() }
    nonmutating set { unavailable() }
  }

  @available(
    *, unavailable, message: "hand 'Dependencies.test(identifiers: .counting())' to the feature"
  )
  public static var incrementing: UnknownDependency { unavailable() }

  @available(
    *, unavailable, message: "hand 'Dependencies.test(clock: ImmediateClock())' to the feature"
  )
  public static var immediate: UnknownDependency { unavailable() }

  @available(*, unavailable, message: "hand 'dependencies.overriding(client)' to the feature")
  public static func constant<Value>(_ value: Value) -> UnknownDependency { unavailable() }
}

@available(
  *, unavailable,
  message: "declare a struct of closures that conforms to DependencyValue, with a 'live' one"
)
@attached(peer)
public macro DependencyClient() =
  #externalMacro(module: "ComposableMacros", type: "ObservationStateIgnoredMacro")

/// Says what is written in its place: a dependency is handed down in a property.
@attached(peer)
public macro Dependency<Value>(_ key: KeyPath<DependencyValues, Value>) =
  #externalMacro(module: "ComposableMacros", type: "DependencyMacro")

/// Says what is written in its place: a dependency is handed down in a property.
@attached(peer)
public macro Dependency<Value>(_ type: Value.Type) =
  #externalMacro(module: "ComposableMacros", type: "DependencyMacro")

@available(
  *, unavailable, message: "hand the dependencies to the feature: 'Feature(dependencies: .live())'"
)
public func withDependencies<Result>(
  _ update: (inout DependencyValues) throws -> Void, operation: () throws -> Result
) rethrows -> Result { unavailable() }

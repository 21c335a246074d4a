// The dependency names of The Composable Architecture. They are declared so that ported code fails
// only with errors that name the replacement.

@available(
  *, unavailable,
  message: "conform to DependencyValue: 'live' replaces 'liveValue', 'unset' replaces 'testValue'"
)
public protocol DependencyKey {}

@available(
  *, unavailable,
  message: "conform to DependencyValue: 'live' replaces 'liveValue', 'unset' replaces 'testValue'"
)
public protocol TestDependencyKey {}

/// Stands for the dependency table of The Composable Architecture. Here, a dependency is found by
/// its type, as in `dependencies[SongClient.self]`.
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

  /// Stands for any dependency, so that its use fails only with the error that names the
  /// replacement.
  public subscript(dynamicMember name: String) -> UnknownDependency {
    get { unavailable() }
    set { unavailable() }
  }

  /// Accepts any value, for closures that override dependencies.
  public subscript<Value>(dynamicMember name: String) -> Value {
    get { unavailable() }
    set { unavailable() }
  }
}

/// Stands for a dependency that does not exist here, and for its members, as in `\.date.now`.
@dynamicMemberLookup
public struct UnknownDependency {
  /// A member of the dependency.
  public subscript(dynamicMember name: String) -> UnknownDependency {
    get { unavailable() }
    nonmutating set { unavailable() }
  }

  /// Accepts any value, for closures that override dependencies.
  public subscript<Value>(dynamicMember name: String) -> Value {
    get { unavailable() }
    nonmutating set { unavailable() }
  }

  @available(
    *, unavailable, message: "pass 'Dependencies.test(identifiers: .counting())' to the feature"
  )
  public static var incrementing: UnknownDependency { unavailable() }

  @available(
    *, unavailable, message: "pass 'Dependencies.test(clock: ImmediateClock())' to the feature"
  )
  public static var immediate: UnknownDependency { unavailable() }

  @available(*, unavailable, message: "pass 'dependencies.overriding(client)' to the feature")
  public static func constant<Value>(_ value: Value) -> UnknownDependency { unavailable() }
}

@available(
  *, unavailable,
  message: "declare a struct of closures that conforms to DependencyValue, with a 'live' value"
)
@attached(peer)
public macro DependencyClient() =
  #externalMacro(module: "ComposableMacros", type: "ObservationStateIgnoredMacro")

/// The attribute of a property with a dependency. Its use is an error, whose message names the
/// replacement: a property that passes dependencies down.
@attached(peer)
public macro Dependency<Value>(_ key: KeyPath<DependencyValues, Value>) =
  #externalMacro(module: "ComposableMacros", type: "DependencyMacro")

/// The attribute of a property with a dependency. Its use is an error, whose message names the
/// replacement: a property that passes dependencies down.
@attached(peer)
public macro Dependency<Value>(_ type: Value.Type) =
  #externalMacro(module: "ComposableMacros", type: "DependencyMacro")

@available(
  *, unavailable, message: "pass the dependencies to the feature: 'Feature(dependencies: .live())'"
)
public func withDependencies<Result>(
  _ update: (inout DependencyValues) throws -> Void, operation: () throws -> Result
) rethrows -> Result { unavailable() }

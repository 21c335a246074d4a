/// A value shared by several features, in one store or in many, on any lanes.
///
///     let settings = Shared(Settings(), merging: \.volume, \.isMuted)
///     …
///     Reduce { … }.sharing(\.settings, with: settings, action: \.settings)
///
/// Each feature keeps a copy in a field of its state. ``ReducerStep/sharing(_:with:action:)`` keeps
/// the copy equal to the shared value, so reducers, observers and tests use an ordinary field. Can
/// be used from any thread.
public final class Shared<Value: Equatable & Sendable>: Sendable {
  /// Merges two concurrent changes of the value `base`: `own` is the value after the change by the
  /// current feature, `other` the value after the change by another feature.
  public typealias Merge = @Sendable (_ base: Value, _ own: Value, _ other: Value) -> Value

  let core: SharedCore<Value>

  /// Makes a shared value in memory.
  ///
  /// - Parameter merge: Resolves a conflict when a reducer assigns the value while code on another
  ///   lane changes it. Without a merge function, the assignment discards the other change, and
  ///   ``overwrites`` is incremented.
  public convenience init(_ value: Value, merge: Merge? = nil) {
    self.init(SharedCore(value, merge: merge, file: nil))
  }

  /// Makes a shared value in memory whose fields are merged separately. Concurrent assignments to
  /// different fields are all kept; of concurrent assignments to the same field, the last one is
  /// kept.
  ///
  ///     let settings = Shared(Settings(), merging: \.volume, \.isMuted)
  ///
  /// - Parameter fields: All fields of the value. A change of a field that is not listed is lost if
  ///   it conflicts with another change.
  public convenience init<each Field: Equatable & SendableMetatype>(
    _ value: Value, merging fields: repeat any WritableKeyPath<Value, each Field> & Sendable
  ) {
    self.init(value, merge: Self.merge(repeat each fields))
  }

  init(_ core: SharedCore<Value>) { self.core = core }

  /// Returns a function that merges field by field: each field has the value from the side that
  /// changed it, or from `own` if both sides did.
  public static func merge<each Field: Equatable & SendableMetatype>(
    _ fields: repeat any WritableKeyPath<Value, each Field> & Sendable
  ) -> Merge {
    let fields = (repeat each fields)
    return { base, own, other in
      var result = other
      for field in repeat each fields {
        if own[keyPath: field] != base[keyPath: field] {
          result[keyPath: field] = own[keyPath: field]
        }
      }
      return result
    }
  }

  /// The current value.
  public var value: Value { core.newest.value }

  /// The number of assignments by reducers that discarded a concurrent change by other code.
  public var overwrites: Int { core.overwrites }

  /// Changes the value and notifies all listeners. If `body` leaves the value equal, nothing
  /// happens.
  ///
  /// The change is atomic, so no other change is lost. `body` must be quick and must not access
  /// this `Shared`. Do not call this method in a reducer, which must also change its copy of the
  /// value: use ``change(_:_:)``.
  public func change(_ body: (inout Value) -> Void) { _ = core.change(body) }

  @available(*, unavailable, message: "in a reducer write settings.change(&state.settings) { … }")
  public func change(_ body: (inout Value) -> Void) -> Value { core.change(body).value }

  /// Changes the value and the feature's copy, in the feature's reducer.
  ///
  ///     settings.change(&state.settings) { $0.volume += 1 }
  ///
  /// First shares what the reducer has already assigned to the copy. Then `body` changes the newest
  /// value, which includes concurrent changes by others, and the result is assigned to the copy.
  public func change(_ copy: inout Value, _ body: (inout Value) -> Void) {
    let turn = SharedTurn.current(for: core)
    if let base = turn?.base(in: core) { _ = core.commit(copy, since: base) }
    let newest = core.change(body)
    turn?.rebase(newest)
    copy = newest.value
  }

  /// Returns a stream of the current value and the newest value after each change. A slow reader
  /// misses intermediate values, but never the last one.
  public func values() -> AsyncStream<Value> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Value.self, bufferingPolicy: .bufferingNewest(1))
    let (first, versions) = core.listen()
    continuation.yield(first.value)
    let task = Task {
      for await version in versions { continuation.yield(version.value) }
      continuation.finish()
    }
    continuation.onTermination = { _ in task.cancel() }
    return stream
  }

  /// Waits until the newest value is written to the file, if there is a file.
  public func flush() async { await core.file?.flush() }
}

/// A value that several features have in common, in one store or in many, on any lanes.
///
///     let settings = Shared(Settings(), merging: \.volume, \.isMuted)
///     …
///     Reduce { … }.sharing(\.settings, with: settings, action: \.settings)
///
/// Each feature keeps a copy in a field of its state, which ``ReducerStep/sharing(_:with:action:)`` keeps
/// equal. So reducers, observers and tests see an ordinary field. May be used from any thread.
public final class Shared<Value: Equatable & Sendable>: Sendable {
  /// Joins two changes of one value that were made at the same time.
  ///
  /// - Parameters:
  ///   - base: the value that both began with.
  ///   - own: what the feature at hand made of it.
  ///   - other: what somebody else made of it meanwhile.
  public typealias Merge = @Sendable (_ base: Value, _ own: Value, _ other: Value) -> Value

  let core: SharedCore<Value>

  /// A value in memory.
  ///
  /// - Parameter merge: what becomes of an assignment in a reducer, if somebody on another lane changes the
  ///   value while the action is reduced. Without it the assignment stays, and ``overwrites`` counts it.
  public convenience init(_ value: Value, merge: Merge? = nil) {
    self.init(SharedCore(value, merge: merge, file: nil))
  }

  /// A value in memory, of which each field is shared by itself: assignments to different fields at the same
  /// time all stay, and of assignments to one field the last.
  ///
  ///     let settings = Shared(Settings(), merging: \.volume, \.isMuted)
  ///
  /// - Parameter fields: all fields of the value. Of one that is not listed, a change at the same time as
  ///   another one is lost.
  public convenience init<each Field: Equatable & SendableMetatype>(
    _ value: Value, merging fields: repeat any WritableKeyPath<Value, each Field> & Sendable
  ) {
    self.init(value, merge: Self.merge(repeat each fields))
  }

  init(_ core: SharedCore<Value>) { self.core = core }

  /// Takes each of `fields` from the side that changed it; from `own` if both did.
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

  /// The value as it is now.
  public var value: Value { core.newest.value }

  /// How often an assignment in a reducer replaced a change that somebody else had made while the action was
  /// reduced.
  public var overwrites: Int { core.overwrites }

  /// Changes the value and tells all who listen; if `body` leaves it equal, nothing happens.
  ///
  /// Nobody else changes it meanwhile, so that no change is lost. `body` must be quick and must not use this
  /// `Shared` itself. A reducer changes its copy as well, by ``change(_:_:)``.
  public func change(_ body: (inout Value) -> Void) { _ = core.change(body) }

  @available(*, unavailable, message: "in a reducer write settings.change(&state.settings) { … }")
  public func change(_ body: (inout Value) -> Void) -> Value { core.change(body).value }

  /// Changes the value and the copy of a feature, in its reducer.
  ///
  ///     settings.change(&state.settings) { $0.volume += 1 }
  ///
  /// What the reducer assigned to the copy before is shared first. `body` sees that together with what others
  /// changed, even while the action is reduced, and its result is the copy's new value.
  public func change(_ copy: inout Value, _ body: (inout Value) -> Void) {
    let turn = SharedTurn.current(for: core)
    if let base = turn?.base(in: core) { _ = core.commit(copy, since: base) }
    let newest = core.change(body)
    turn?.rebase(newest)
    copy = newest.value
  }

  /// The present value, and from then on the newest one after changes. A slow reader misses values in
  /// between, never the last.
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

  /// Waits until the newest value is in the file; returns at once for a value in memory.
  public func flush() async { await core.file?.flush() }
}

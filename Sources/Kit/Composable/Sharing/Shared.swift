import Synchronization

/// A value that several features have in common, in one store or in many, on any lanes.
///
///     let settings = Shared(Settings())
///     …
///     Reduce { … }.sharing(\.settings, with: settings, action: \.settings)
///
/// Each feature keeps a copy in a field of its state, which ``ReducerStep/sharing(_:with:action:)`` keeps
/// equal. So reducers, observers and tests see an ordinary field. May be used from any thread.
public final class Shared<Value: Equatable & Sendable>: Sendable {
  /// The value after one of its changes.
  struct Version: Sendable {
    var value: Value
    /// Counts the changes.
    var number: UInt64
  }

  private struct Contents: Sendable {
    var newest: Version
    /// In the order in which they came, so that all runs of a test tell them in the same one.
    var listeners: [Listener] = []
    var lastListener: UInt64 = 0
  }

  private struct Listener: Sendable {
    let number: UInt64
    let continuation: AsyncStream<Version>.Continuation
  }

  private let contents: Mutex<Contents>
  private let file: SharedFile<Value>?

  /// A value in memory.
  public convenience init(_ value: Value) { self.init(value, file: nil) }

  init(_ value: Value, file: SharedFile<Value>?) {
    contents = Mutex(Contents(newest: Version(value: value, number: 0)))
    self.file = file
  }

  deinit {
    for listener in contents.withLock({ $0.listeners }) { listener.continuation.finish() }
  }

  /// The value as it is now.
  public var value: Value { newest.value }

  var newest: Version { contents.withLock { $0.newest } }

  /// Changes the value and tells all who listen; if `body` leaves it equal, nothing happens.
  ///
  /// Nobody else changes it meanwhile, so that no change is lost. `body` must be quick and must not use this
  /// `Shared` itself. A reducer assigns the result to its copy:
  ///
  ///     state.settings = settings.change { $0.volume += 1 }
  /// - Returns: the new value.
  @discardableResult
  public func change(_ body: (inout Value) -> Void) -> Value {
    let value = contents.withLock { contents in
      let old = contents.newest.value
      body(&contents.newest.value)
      if contents.newest.value != old { tell(&contents) }
      return contents.newest.value
    }
    SharedTurn.current?.note(value, in: self)
    return value
  }

  /// Tells the listeners about the newest value. Called with the lock, so that all hear it in one order.
  private func tell(_ contents: inout Contents) {
    contents.newest.number += 1
    for listener in contents.listeners { listener.continuation.yield(contents.newest) }
    file?.save(contents.newest.value)
  }

  /// The present value, and from then on the newest one after changes. Who is slow misses values in
  /// between, never the last.
  public func values() -> AsyncStream<Value> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Value.self, bufferingPolicy: .bufferingNewest(1))
    let (first, versions) = listen()
    continuation.yield(first.value)
    let task = Task {
      for await version in versions { continuation.yield(version.value) }
      continuation.finish()
    }
    continuation.onTermination = { _ in task.cancel() }
    return stream
  }

  /// The present version, and a stream of the newest one after each later change.
  func listen() -> (Version, AsyncStream<Version>) {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Version.self, bufferingPolicy: .bufferingNewest(1))
    let (number, newest) = contents.withLock { contents in
      contents.lastListener += 1
      contents.listeners.append(
        Listener(number: contents.lastListener, continuation: continuation))
      return (contents.lastListener, contents.newest)
    }
    continuation.onTermination = { [weak self] _ in
      self?.contents.withLock { $0.listeners.removeAll { $0.number == number } }
    }
    return (newest, stream)
  }

  /// Waits until the newest value is in the file; returns at once for a value in memory.
  public func flush() async { await file?.flush() }
}

import Locking

/// The storage behind all ``Shared`` values of one file: the value, the listeners and the file.
final class SharedCore<Value: Equatable & Sendable>: Sendable {
  /// A version of the value: the value after a certain number of changes.
  struct Version: Sendable {
    var value: Value
    /// The number of changes so far.
    var number: UInt64
  }

  private struct Contents: Sendable {
    var newest: Version
    var overwrites = 0
    /// The listeners, in the order of registration, so that test runs are reproducible.
    var listeners: [Listener] = []
    var lastListener: UInt64 = 0
  }

  private struct Listener: Sendable {
    let number: UInt64
    let continuation: AsyncStream<Version>.Continuation
  }

  private let contents: Guarded<Contents>
  private let merge: Shared<Value>.Merge?
  let file: SharedFile<Value>?

  init(_ value: Value, merge: Shared<Value>.Merge?, file: SharedFile<Value>?) {
    contents = Guarded(Contents(newest: Version(value: value, number: 0)))
    self.merge = merge
    self.file = file
  }

  deinit {
    for listener in contents.withLock({ $0.listeners }) { listener.continuation.finish() }
  }

  var newest: Version { contents.withLock { $0.newest } }

  var overwrites: Int { contents.withLock { $0.overwrites } }

  /// Changes the value. Returns the newest version.
  func change(_ body: (inout Value) -> Void) -> Version {
    contents.withLock { contents in
      var value = contents.newest.value
      body(&value)
      return set(value, &contents)
    }
  }

  /// Shares the value that a reducer left in its copy of `base`. Returns the newest version.
  func commit(_ own: Value, since base: Version) -> Version {
    contents.withLock { contents in
      let other = contents.newest.value
      if own == base.value || own == other { return contents.newest }
      if contents.newest.number == base.number { return set(own, &contents) }
      if let merge { return set(merge(base.value, own, other), &contents) }
      contents.overwrites += 1
      return set(own, &contents)
    }
  }

  /// Sets the value under the lock, so that all listeners receive changes in the same order.
  private func set(_ value: Value, _ contents: inout Contents) -> Version {
    guard contents.newest.value != value else { return contents.newest }
    contents.newest = Version(value: value, number: contents.newest.number + 1)
    for listener in contents.listeners { listener.continuation.yield(contents.newest) }
    file?.save(value)
    return contents.newest
  }

  /// Returns the current version, and a stream of the newest version after each later change.
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
}

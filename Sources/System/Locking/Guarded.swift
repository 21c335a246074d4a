public import Synchronization

/// A value protected by a lock.
///
/// Use this type instead of `Mutex`. The compiler (6.3.1) may inline `Mutex.withLock` into an
/// asynchronous function and keep the ID of the locking thread across a suspension. The lock is
/// then released on behalf of another thread, which ends the process. `Guarded.withLock` is never
/// inlined, so it reads the ID again each time, at the cost of a call, about 1 ns.
///
/// The type is public because the compiler specialises generic code of another module only if it is
/// public. Without specialisation, each use would look up its types at run time.
public struct Guarded<Value: ~Copyable>: ~Copyable, Sendable {
  @usableFromInline let mutex: Mutex<Value>

  @inlinable
  public init(_ value: consuming sending Value) { mutex = Mutex(value) }

  /// Calls `body` with exclusive access to the value. `body` must be short, must not wait, and must
  /// not lock the same value again.
  @inlinable @inline(never)
  public borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    try mutex.withLock(body)
  }

  /// Calls `body` like ``withLock(_:)``, or returns nil immediately if another thread holds the
  /// lock.
  @inlinable @inline(never)
  public borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result? {
    try mutex.withLockIfAvailable(body)
  }
}

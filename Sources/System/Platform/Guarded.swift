public import Synchronization

/// A value protected by a lock.
///
/// Use it in place of `Mutex`. The compiler (6.3.1) may inline `Mutex.withLock` into an
/// asynchronous function and keep the number of the thread that took a lock across a suspension;
/// the lock is then released in the name of another thread, which ends the process. `withLock` here
/// is never inlined, so it reads that number again each time. That costs a call, about 1 ns.
///
/// Public, since the compiler makes copies of generic code for the types of another module only if it is: without
/// them each use looked its types up at run time.
public struct Guarded<Value: ~Copyable>: ~Copyable, Sendable {
  @usableFromInline let mutex: Mutex<Value>

  /// Guards `value` from now on.
  @inlinable
  public init(_ value: consuming sending Value) { mutex = Mutex(value) }

  /// Calls `body` with the value while no other thread has it.
  ///
  /// `body` must be short, must not wait, and must not call this on the same value again.
  @inlinable @inline(never)
  public borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    try mutex.withLock(body)
  }

  /// Calls `body` as ``withLock(_:)`` does, or returns nil at once if another thread has the value.
  @inlinable @inline(never)
  public borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result? {
    try mutex.withLockIfAvailable(body)
  }
}

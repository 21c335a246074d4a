public import Synchronization

#if SANITIZED_LOCKS
  import Glibc

  /// A lock that the thread sanitizer sees: it does not know the system call that `Mutex` waits by.
  @usableFromInline
  final class MailboxLock<Value: Sendable>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var value: Value

    @usableFromInline
    init(_ value: Value) {
      self.value = value
      pthread_mutex_init(mutex, nil)
    }

    deinit {
      pthread_mutex_destroy(mutex)
      mutex.deallocate()
    }

    @usableFromInline
    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
      pthread_mutex_lock(mutex)
      defer { pthread_mutex_unlock(mutex) }
      return body(&value)
    }
  }
#else
  /// The lock of a mailbox.
  @usableFromInline typealias MailboxLock = Mutex
#endif

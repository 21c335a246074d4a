import CSystemSupport
import Glibc
package import NIOCore
import NIOPosix

/// Protection against file descriptors that clients pass with their data (`SCM_RIGHTS` of unix(7)),
/// which no server here accepts.
///
/// The kernel closes passed descriptors in the thread that reads past them, or that closes the
/// socket in which they wait. Closing the last reference to a TCP socket with `SO_LINGER` and
/// unsent data blocks the thread for as long as the client has chosen. On an event loop, such a
/// close blocks all connections. Since Linux 6.16, the kernel can refuse passed descriptors. On
/// older kernels, a channel inspects its input before it reads it, and a close that blocks is
/// interrupted.
package enum PassedDescriptors {
  /// `SO_PASSRIGHTS` of socket(7), which Glibc does not declare yet.
  private static let option: Int32 = 83

  /// Makes the kernel, if possible, refuse descriptors on connections of this listener.
  static func refuse(on listener: Int32) {
    _ = set(option, to: 0, on: listener)
  }

  private static func set(_ option: Int32, to value: Int32, on socket: Int32) -> Bool {
    var value = value
    return setsockopt(
      socket, SOL_SOCKET, option, &value, socklen_t(MemoryLayout.size(ofValue: value))) == 0
  }

  private static func areRefused(on socket: Int32) -> Bool {
    var value: Int32 = 1
    var size = socklen_t(MemoryLayout.size(ofValue: value))
    return getsockopt(socket, SOL_SOCKET, option, &value, &size) == 0 && value == 0
  }

  /// Protects a channel from passed descriptors, unless the kernel already refuses them. The
  /// channel's input ends before the first descriptor. At most `readSize` bytes are read at a time.
  /// Call this function in the initializer of the channel, before anything can close the channel.
  package static func guardAgainst(on channel: any Channel, readSize: Int = 1 << 16) throws {
    let descriptor = try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
      of: NIOBSDSocket.Handle.self
    ) { $0 }
    guard let descriptor, !areRefused(on: descriptor) else { return }
    // The duplicate keeps the socket open when the channel closes its descriptor.
    let spare = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard spare >= 0 else { throw IOError(errnoCode: errno, reason: "fcntl") }
    channel.closeFuture.whenComplete { _ in closeWithoutWaiting(spare) }
    // Without this option, reads would skip out-of-band data, and the descriptors passed with that
    // data would not be inspected.
    guard set(SO_OOBINLINE, to: 1, on: descriptor) else {
      throw IOError(errnoCode: errno, reason: "setsockopt")
    }
    // One read per turn of the event loop, because the input is inspected once per turn.
    try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
    try channel.syncOptions?.setOption(
      .recvAllocator, value: InspectedInput(socket: descriptor, readSize: readSize))
  }

  /// Closes a socket whose queue may contain any descriptors. Takes about 2 us, or about 100 us if
  /// closing would block.
  private static func closeWithoutWaiting(_ socket: Int32) {
    _ = interruption
    var signals = sigset_t()
    var former = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGURG)
    pthread_sigmask(Int32(SIG_UNBLOCK), &signals, &former)
    defer { pthread_sigmask(Int32(SIG_SETMASK), &former, nil) }
    // A signal to the thread ends a blocking close. No blocking begins while a signal is pending.
    var event = sigevent()
    event.sigev_notify = Int32(SIGEV_THREAD_ID)
    event.sigev_signo = SIGURG
    event._sigev_un._tid = current_thread_id()
    var timer: timer_t?
    let hasTimer = timer_create(CLOCK_MONOTONIC, &event, &timer) == 0
    // The first timer of a process has the number 0, which is `nil` here.
    if hasTimer {
      let soon = timespec(tv_sec: 0, tv_nsec: 100_000)
      var times = itimerspec(it_interval: soon, it_value: soon)
      timer_settime(timer, 0, &times, nil)
    }
    _ = Glibc.close(socket)
    if hasTimer { timer_delete(timer) }
  }

  /// Handles the signal, once per process. An ignored signal would not interrupt anything.
  private static let interruption: Void = {
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { _ in }
    sigaction(SIGURG, &action, nil)
  }()
}

/// Allocates a buffer that is no larger than the input before the first passed descriptor.
/// Implemented as an allocator, because a channel calls its allocator immediately before it reads.
/// The channel copies the first buffer into one with the next power of two as its size. The size of
/// every buffer is therefore a power of two.
private struct InspectedInput: RecvByteBufferAllocator {
  let socket: Int32
  let readSize: Int

  func buffer(allocator: ByteBufferAllocator) -> ByteBuffer {
    var available: Int32 = 0
    // At the end of the input, one byte of capacity lets the channel read the end.
    guard ioctl(socket, UInt(FIONREAD), &available) == 0, available > 0 else {
      return allocator.buffer(capacity: 1)
    }
    let size = min(Int(available), readSize)
    var room = allocator.buffer(capacity: size)
    var hasDescriptors = false
    let count = room.withUnsafeMutableWritableBytes { bytes -> Int in
      var vector = iovec(iov_base: bytes.baseAddress, iov_len: size)
      return withUnsafeMutablePointer(to: &vector) { vector in
        var header = msghdr()
        header.msg_iov = vector
        header.msg_iovlen = 1
        let count = recvmsg(socket, &header, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        // The call provides no space for descriptors, so this flag shows that the input contains
        // some.
        hasDescriptors = header.msg_flags & Int32(MSG_CTRUNC) != 0
        return count
      }
    }
    guard !hasDescriptors else {
      // A buffer without capacity makes the channel read the end of its input.
      return room.readSlice(length: 0) ?? ByteBuffer()
    }
    let whole = max(1, count)
    return allocator.buffer(capacity: 1 << (Int.bitWidth - 1 - whole.leadingZeroBitCount))
  }

  /// Returns `true`: each buffer is only as long as the input at hand, so the next buffer may need
  /// a different size.
  func record(actualReadBytes: Int) -> Bool { true }

  func nextBufferSize() -> Int? { nil }
}

import CPlatform
import Glibc
package import NIOCore
import NIOPosix

/// Descriptors that clients pass with what they send (`SCM_RIGHTS` of unix(7)), and which nobody here takes.
///
/// The kernel closes them in the thread that reads past them, or that closes the socket in which they wait. If one is
/// the last of a TCP socket with `SO_LINGER` and unsent data, that thread waits for as long as the client has chosen,
/// and on an event loop so does everybody else. From Linux 6.16 on, the kernel can be told to let nobody pass any.
/// Before that, a channel looks at its input before it reads it, and a close that waits is interrupted.
package enum PassedDescriptors {
  /// `SO_PASSRIGHTS` of socket(7), which Glibc does not declare yet.
  private static let option: Int32 = 83

  /// Has the kernel refuse them on the connections that a socket accepts, if it can.
  static func refuse(on listener: Int32) {
    _ = set(option, to: 0, on: listener)
  }

  private static func set(_ option: Int32, to value: Int32, on socket: Int32) -> Bool {
    var value = value
    return setsockopt(
      socket, SOL_SOCKET, option, &value, socklen_t(MemoryLayout.size(ofValue: value))) == 0
  }

  /// Whether the kernel refuses them on a connection.
  private static func areRefused(on socket: Int32) -> Bool {
    var value: Int32 = 1
    var size = socklen_t(MemoryLayout.size(ofValue: value))
    return getsockopt(socket, SOL_SOCKET, option, &value, &size) == 0 && value == 0
  }

  /// Makes a channel safe from them, unless the kernel does: its input ends where the first one comes.
  ///
  /// To be called in the initializer of the channel, before anything can close it.
  ///
  /// - Parameter readSize: the most that is read at a time, in bytes.
  package static func guardAgainst(on channel: any Channel, readSize: Int = 1 << 16) throws {
    let descriptor = try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
      of: NIOBSDSocket.Handle.self
    ) { $0 }
    guard let descriptor, !areRefused(on: descriptor) else { return }
    // Keeps the socket open when the channel closes it.
    let spare = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard spare >= 0 else { throw IOError(errnoCode: errno, reason: "fcntl") }
    channel.closeFuture.whenComplete { _ in closeWithoutWaiting(spare) }
    // Otherwise what is sent out of band is read past, with its descriptors, and not seen before.
    guard set(SO_OOBINLINE, to: 1, on: descriptor) else {
      throw IOError(errnoCode: errno, reason: "setsockopt")
    }
    // Once per turn of the event loop, since only then there is something to look at.
    try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
    try channel.syncOptions?.setOption(
      .recvAllocator, value: InspectedInput(socket: descriptor, readSize: readSize))
  }

  /// Closes a socket whose queue may have any descriptors in it. Takes some 2 us; about 100 us if it would wait.
  private static func closeWithoutWaiting(_ socket: Int32) {
    _ = interruption
    var signals = sigset_t()
    var former = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGURG)
    pthread_sigmask(Int32(SIG_UNBLOCK), &signals, &former)
    defer { pthread_sigmask(Int32(SIG_SETMASK), &former, nil) }
    // Waits end with a signal to the thread, and do not begin while one is pending.
    var event = sigevent()
    event.sigev_notify = Int32(SIGEV_THREAD_ID)
    event.sigev_signo = SIGURG
    event._sigev_un._tid = current_thread_id()
    var timer: timer_t?
    let hasTimer = timer_create(CLOCK_MONOTONIC, &event, &timer) == 0
    // The first timer of a process has the number 0, and is `nil` here.
    if hasTimer {
      let soon = timespec(tv_sec: 0, tv_nsec: 100_000)
      var times = itimerspec(it_interval: soon, it_value: soon)
      timer_settime(timer, 0, &times, nil)
    }
    _ = Glibc.close(socket)
    if hasTimer { timer_delete(timer) }
  }

  /// Handles the signal, once for the process: one that is ignored interrupts nothing.
  private static let interruption: Void = {
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { _ in }
    sigaction(SIGURG, &action, nil)
  }()
}

/// Makes room for no more than what has come and has no descriptors with it.
///
/// An allocator, because a channel asks that right before it reads. It copies the first buffer, into one whose size is
/// the next power of two; so that is what each has.
private struct InspectedInput: RecvByteBufferAllocator {
  let socket: Int32
  let readSize: Int

  func buffer(allocator: ByteBufferAllocator) -> ByteBuffer {
    var available: Int32 = 0
    // At the end of the input, a byte of room tells the channel so.
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
        // There is no room for them, so the kernel says that it has left some out.
        hasDescriptors = header.msg_flags & Int32(MSG_CTRUNC) != 0
        return count
      }
    }
    guard !hasDescriptors else {
      // With no room at all, the channel reads that its input has ended.
      return room.readSlice(length: 0) ?? ByteBuffer()
    }
    let whole = max(1, count)
    return allocator.buffer(capacity: 1 << (Int.bitWidth - 1 - whole.leadingZeroBitCount))
  }

  /// Whether the next buffer is another one: always, since each is as long as its input.
  func record(actualReadBytes: Int) -> Bool { true }

  func nextBufferSize() -> Int? { nil }
}

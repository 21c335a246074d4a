import Glibc

/// Reads keys from a terminal.
package enum Keyboard {
  /// How long to wait for the rest of a sequence, in milliseconds. This is long enough for a slow
  /// connection, and too short for users of the Escape key to notice.
  private static let escapeDelay: Int32 = 50

  /// Blocks until keys are typed, and returns their bytes. Returns no bytes if the read was
  /// interrupted, and nil once the terminal has hung up.
  ///
  /// An arrow key or a click arrives as a sequence that starts with the byte of the Escape key. On
  /// a busy machine or a slow connection, this byte may arrive before the rest of the sequence. A
  /// trailing escape byte therefore counts as the Escape key only if `followed` finds no more
  /// bytes.
  package static func read(
    _ descriptor: Int32, followed: (Int32) -> Bool = Keyboard.isReadable
  ) -> [UInt8]? {
    guard var bytes = available(descriptor) else { return nil }
    while bytes.last == 0x1B, followed(descriptor), let more = available(descriptor), !more.isEmpty
    {
      bytes += more
    }
    return bytes
  }

  /// Returns whether bytes can be read within the escape delay.
  package static func isReadable(_ descriptor: Int32) -> Bool {
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&request, 1, escapeDelay) > 0
  }

  private static func available(_ descriptor: Int32) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = Glibc.read(descriptor, &bytes, bytes.count)
    if count > 0 { return Array(bytes[..<count]) }
    return count < 0 && (errno == EINTR || errno == EAGAIN) ? [] : nil
  }
}

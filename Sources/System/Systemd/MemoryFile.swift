import CSystemd
import Glibc

/// Sealed memory files (`memfd_create(2)`), which outlive the process in the manager's
/// descriptor store.
public enum MemoryFile {
  /// Creates a memory file that holds `bytes` and can no longer be changed. The caller closes it.
  ///
  /// - Complexity: O(n) in the number of bytes.
  public static func make(_ bytes: [UInt8], name: String) throws(SystemdError) -> Int32 {
    let flags = LIVEHOST_MFD_CLOEXEC.rawValue | LIVEHOST_MFD_ALLOW_SEALING.rawValue
    let descriptor = memfd_create(name, flags)
    guard descriptor >= 0 else { throw SystemdError(.createMemoryFile, code: errno, context: name) }
    var offset = 0
    while offset < bytes.count {
      let written = bytes.withUnsafeBytes { bytes in
        let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
        return pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset))
      }
      if written < 0 && errno == EINTR { continue }
      guard written > 0 else {
        let code = errno
        close(descriptor)
        throw SystemdError(.createMemoryFile, code: code, context: name)
      }
      offset += written
    }
    guard
      fcntl(
        descriptor, Int32(LIVEHOST_F_ADD_SEALS.rawValue), Int32(LIVEHOST_F_SEAL_ALL.rawValue)) == 0
    else {
      let code = errno
      close(descriptor)
      throw SystemdError(.createMemoryFile, code: code, context: name)
    }
    return descriptor
  }

  /// The bytes of a memory file, read from its beginning. The descriptor stays open.
  ///
  /// - Throws: `EFBIG` if it holds more than `maximumBytes`.
  public static func read(
    descriptor: Int32, maximumBytes: Int = 16 << 20
  ) throws(SystemdError) -> [UInt8] {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw SystemdError(.readMemoryFile, code: errno) }
    guard status.st_size <= maximumBytes else { throw SystemdError(.readMemoryFile, code: EFBIG) }
    let size = Int(status.st_size)
    var failure: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      while count < size, let base = buffer.baseAddress {
        let received = pread(descriptor, base + count, size - count, off_t(count))
        if received < 0 && errno == EINTR { continue }
        if received < 0 { failure = errno }
        if received <= 0 { break }
        count += received
      }
    }
    if failure != 0 { throw SystemdError(.readMemoryFile, code: failure) }
    return bytes
  }
}

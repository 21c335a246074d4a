import FileSystem
import Glibc
package import SystemSupport

/// A program's call to a simulated disk.
package struct DiskCall: Sendable, Equatable {
  /// The number of the call, starting at 1.
  package let number: Int
  package let operation: SystemError.Operation
  package let path: String
  /// The number of bytes to read or write, or the new size of the file.
  package let bytes: Int
}

/// A fault of a call to the disk.
package enum DiskFault: Sendable, Equatable {
  /// The power fails before the call.
  case powerLoss
  /// The process ends before the call.
  case processEnd
  /// The call fails with this `errno`.
  case error(Int32)
  /// The call succeeds but reads or writes only half of the bytes.
  case short
  /// The call takes this many nanoseconds.
  case slow(UInt64)
  /// The call does not return before ``SimulatedDisk/release()``, a power failure, or the end of
  /// the process.
  case never
  /// The call reports success but syncs nothing.
  case lie
}

/// The countable kinds of faults and losses.
package enum DiskEvent: String, Sendable, CaseIterable {
  case powerLoss, processEnd
  case ioError, noSpace, overQuota, otherError, failedSync, failedDirectorySync
  case shortRead, shortWrite, slow, never, lie, rot
  // The fates of unsynced pages and directory entries at a power failure.
  case pageKept, pageLost, pageTorn, pagesReordered, entryKept, entryLost

  static func error(_ code: Int32, in operation: SystemError.Operation) -> Self {
    switch operation {
    case .sync: .failedSync
    case .syncDirectory: .failedDirectorySync
    default:
      switch code {
      case EIO: .ioError
      case ENOSPC: .noSpace
      case EDQUOT: .overQuota
      default: .otherError
      }
    }
  }
}

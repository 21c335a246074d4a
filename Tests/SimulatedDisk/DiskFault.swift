import FileSystem
import Glibc
package import Platform

/// A call of a program on a simulated disk.
package struct DiskCall: Sendable, Equatable {
  /// 1 for the first call.
  package let number: Int
  package let operation: SystemError.Operation
  package let path: String
  /// How much is to be read or written, or left of the file.
  package let bytes: Int
}

/// What befalls a call.
package enum DiskFault: Sendable, Equatable {
  /// The power fails before the call.
  case powerLoss
  /// The process ends before the call.
  case processEnd
  /// It fails with this `errno`.
  case error(Int32)
  /// Only half of the bytes are read or written, which is no error.
  case short
  /// It takes this many nanoseconds.
  case slow(UInt64)
  /// It does not return before ``SimulatedDisk/release()``, or the end of the power or the process.
  case never
  /// It reports success, but syncs nothing.
  case lie
}

/// What can befall a disk and what is on it, for counting it.
package enum DiskEvent: String, Sendable, CaseIterable {
  case powerLoss, processEnd
  case ioError, noSpace, overQuota, otherError, failedSync, failedDirectorySync
  case shortRead, shortWrite, slow, never, lie, rot
  // What became of pages and entries that were not synced when the power failed.
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

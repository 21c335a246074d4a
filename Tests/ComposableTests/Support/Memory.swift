import CAllocationCounter
import Glibc

/// The memory use of the process.
struct Memory {
  /// The number of allocated bytes that were not freed, in all threads.
  var allocated = 0
  /// The number of these bytes in physical memory, including memory that the C library keeps for
  /// later requests.
  var resident = 0

  static func now() -> Memory {
    Memory(allocated: Int(allocated_bytes()), resident: residentBytes())
  }

  static func - (left: Memory, right: Memory) -> Memory {
    Memory(
      allocated: left.allocated - right.allocated, resident: left.resident - right.resident)
  }

  /// Whether allocations can be counted. A sanitizer replaces the allocator, so they cannot be
  /// counted there.
  static var isMeasured: Bool { allocated_bytes() > 0 }

  /// Read from `/proc/self/statm`: the second number, in pages.
  private static func residentBytes() -> Int {
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var text = [CChar](repeating: 0, count: 128)
    guard fgets(&text, 128, file) != nil else { return 0 }
    let words = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
      .split(separator: " ")
    return words.count > 1 ? (Int(words[1]) ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE))) : 0
  }
}

import Foundation
import Glibc
import Rooms
import Synchronization
import Testing

@Suite struct FreeMemoryTests {
  @Test(
    "What a thread frees at the end of its memory is given back, whatever it has freed before",
    .enabled(
      if: dlsym(nil, "__tsan_init") == nil && dlsym(nil, "__asan_init") == nil,
      "a sanitizer has an allocator of its own"))
  func end() throws {
    FreeMemory.limit()
    // Without the limit, glibc holds nearly all of these 15 MiB. Threads may share a heap with
    // other threads, whose blocks after the freed blocks would prevent a release. Each running
    // thread keeps its heap, so the next thread gets another heap. Without the limit, each of them
    // would hold its memory.
    let release = DispatchSemaphore(value: 0)
    defer { for _ in 0..<Self.threads { release.signal() } }
    var fewest = Int.max
    for _ in 0..<Self.threads where fewest >= Self.most {
      fewest = min(fewest, try Self.residentPagesOfFreed(endingAfter: release))
    }
    #expect(fewest < Self.most)
  }

  private static let threads = 32
  private static let most = 8 << 20 / Int(getpagesize())

  /// Returns the number of pages that a new thread still holds after it has freed 15 MiB.
  private static func residentPagesOfFreed(endingAfter release: DispatchSemaphore) throws -> Int {
    let resident = Mutex<Int?>(nil)
    let measured = DispatchSemaphore(value: 0)
    let thread = Thread {
      // A large mapped block. Without the limit, its release makes glibc hold up to twice its size.
      let large = malloc(16 << 20)!
      memset(large, 1, 1)
      // Reads the memory, because the compiler would remove an unused allocation.
      let isThere = Self.residentPages(from: large, to: large + 1) == 1
      free(large)
      // No block is allocated after the freed blocks.
      var blocks = [UnsafeMutableRawPointer?](repeating: nil, count: 256)
      for index in blocks.indices {
        blocks[index] = malloc(64 << 10)
        memset(blocks[index]!, 1, 64 << 10)
      }
      blocks.sort { UInt(bitPattern: $0) > UInt(bitPattern: $1) }
      for index in blocks.indices.dropLast() { free(blocks[index]) }
      if isThere {
        resident.withLock { $0 = Self.residentPages(from: blocks[250]!, to: blocks[4]!) }
      }
      free(blocks[255])
      measured.signal()
      release.wait()
    }
    thread.start()
    try #require(measured.wait(timeout: .now() + 60) == .success)
    return try #require(resident.withLock { $0 })
  }

  /// Returns how many pages between two addresses are in memory. Unmapped pages do not count.
  private static func residentPages(
    from first: UnsafeMutableRawPointer, to last: UnsafeMutableRawPointer
  ) -> Int {
    let size = Int(getpagesize())
    let start = UInt(bitPattern: min(first, last)) / UInt(size) * UInt(size)
    let end = UInt(bitPattern: max(first, last))
    return stride(from: start, to: end, by: size).count { address in
      var state: UInt8 = 0
      return mincore(UnsafeMutableRawPointer(bitPattern: address), size, &state) == 0
        && state & 1 == 1
    }
  }
}

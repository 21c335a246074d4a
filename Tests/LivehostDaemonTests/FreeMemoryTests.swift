import Foundation
import Glibc
import LivehostDaemon
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
    // By itself, glibc holds nearly all of these 15 MiB. Threads may share memory with others, which may have something
    // behind the blocks, so that nothing can be given back. While one lives, the next one gets other memory; without
    // the limit, all would hold theirs.
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

  /// How many pages a new thread still holds of the 15 MiB that it has freed.
  private static func residentPagesOfFreed(endingAfter release: DispatchSemaphore) throws -> Int {
    let resident = Mutex<Int?>(nil)
    let measured = DispatchSemaphore(value: 0)
    let thread = Thread {
      // A large block, which is mapped: by itself, glibc holds twice as much from here on.
      let large = malloc(16 << 20)!
      memset(large, 1, 1)
      // Looked at, or the compiler would leave all of it out.
      let isThere = Self.residentPages(from: large, to: large + 1) == 1
      free(large)
      // Nothing is allocated behind the blocks.
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

  /// How many pages between two addresses are in memory; those that are not mapped are not.
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

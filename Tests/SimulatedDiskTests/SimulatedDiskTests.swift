import FileSystem
import Foundation
import Glibc
import SimulatedDisk
import SystemSupport
import TestSupport
import Testing

extension Disk {
  fileprivate func append(_ bytes: [UInt8], to file: Int32) throws -> Int {
    try bytes.withUnsafeBytes { try write(file, $0) }
  }

  fileprivate func read(_ file: Int32, upTo count: Int) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let size = try bytes.withUnsafeMutableBytes { try read(file, into: $0) }
    return Array(bytes.prefix(size))
  }
}

@Suite struct SimulatedDiskTests {
  /// Performs calls and returns the texts of their results or errors.
  private func run(on disk: any Disk, in root: String) -> [String] {
    var results: [String] = []
    func attempt<R>(_ call: () throws -> R) -> R? {
      do {
        let result = try call()
        results.append(R.self == Int32.self ? "a descriptor" : "\(result)")
        return result
      } catch let error as SystemError {
        results.append("\(error.operation.name): \(error.code)")
      } catch {
        results.append("\(error)")
      }
      return nil
    }
    let (a, b) = (root + "/a", root + "/b")
    _ = attempt { try disk.makeDirectory(a) }
    _ = attempt { try disk.makeDirectory(a) }
    _ = attempt { try disk.makeDirectory(root + "/no/b") }
    _ = attempt { try disk.open(a + "/1", for: .appending) }
    _ = attempt { try disk.open(a + "/no/1", for: .creating) }
    if let file = attempt({ try disk.open(a + "/1", for: .creating) }) {
      _ = attempt { try disk.append(Array("hello, disk".utf8), to: file) }
      _ = attempt { try disk.sync(file) }
      _ = attempt { try disk.truncate(file, to: 5) }
      _ = attempt { try disk.append(Array("!".utf8), to: file) }
      disk.close(file)
    }
    _ = attempt { try disk.open(a + "/1", for: .creating) }
    if let file = attempt({ try disk.open(a + "/1", for: .reading) }) {
      for _ in 1...3 { _ = attempt { try disk.read(file, upTo: 4) } }
      // A removed file can still be read through an open descriptor.
      _ = attempt { try disk.makeDirectory(b) }
      _ = attempt { try disk.rename(a + "/1", to: a + "/2") }
      _ = attempt { try disk.state(of: a + "/1") }
      _ = attempt { try disk.state(of: a + "/2").bytes }
      _ = attempt { try disk.state(of: a).kind }
      _ = attempt { try disk.names(in: a).sorted() }
      _ = attempt { try disk.removeDirectory(a) }
      _ = attempt { try disk.remove(b) }
      _ = attempt { try disk.remove(a + "/2") }
      _ = attempt { try disk.remove(a + "/2") }
      _ = attempt { try disk.syncDirectory(a) }
      _ = attempt { try disk.syncDirectory(root + "/no") }
      _ = attempt { try disk.removeDirectory(a) }
      _ = attempt { try disk.names(in: a) }
      _ = attempt { try disk.names(in: root) }
      disk.close(file)
    }
    return results
  }

  @Test func `without faults, the simulated disk behaves like the system's disk`() throws {
    let directory = TemporaryDirectory()
    let expected = run(on: SystemDisk(), in: directory.path)
    #expect(expected.count == 30)
    let disk = SimulatedDisk()
    try disk.makeDirectory("/root")
    #expect(run(on: disk, in: "/root") == expected)
    #expect(disk.calls > 30)
  }

  /// Returns a file with synced and then unsynced bytes after a power failure.
  private func afterLoss(seed: UInt64, synced: [UInt8], unsynced: [UInt8]) throws -> (
    bytes: [UInt8], events: [DiskEvent: Int]
  ) {
    let disk = SimulatedDisk(seed: seed, pageBytes: 16)
    let file = try disk.open("/file", for: .creating)
    _ = try disk.append(synced, to: file)
    try disk.sync(file)
    try disk.syncDirectory("/")
    _ = try disk.append(unsynced, to: file)
    disk.losePower()
    #expect(throws: SystemError(.sync, code: EIO, context: "")) { try disk.sync(file) }
    disk.restart()
    #expect(throws: SystemError(.sync, code: EBADF)) { try disk.sync(file) }
    return (try #require(disk.contents(of: "/file")), disk.counts)
  }

  @Test func `synced data survives a power failure, and each unsynced page may or may not survive`()
    throws
  {
    let (synced, unsynced) = (Array("synced".utf8), [UInt8](repeating: 7, count: 80))
    var events: [DiskEvent: Int] = [:]
    var found: Set<[UInt8]> = []
    for seed in 0..<200 as Range<UInt64> {
      let (bytes, counts) = try afterLoss(seed: seed, synced: synced, unsynced: unsynced)
      #expect(bytes.starts(with: synced) && bytes.count <= 86)
      #expect(bytes.dropFirst(6).allSatisfy { $0 == 7 || $0 == 0 })
      let again = try afterLoss(seed: seed, synced: synced, unsynced: unsynced)
      #expect(again == (bytes, counts), "the same seed gives the same result")
      found.insert(bytes)
      events.merge(counts, uniquingKeysWith: +)
    }
    #expect(found.contains(synced) && found.contains(synced + unsynced))
    #expect(found.count > 50)
    for event in [DiskEvent.pageKept, .pageLost, .pageTorn, .pagesReordered] {
      #expect(events[event] ?? 0 > 10)
    }
  }

  @Test
  func `synced directory entries survive a power failure, and renames are atomic`()
    throws
  {
    var found: Set<[String]> = []
    for seed in 0..<400 as Range<UInt64> {
      let disk = SimulatedDisk(seed: seed)
      disk.close(try disk.open("/synced", for: .creating))
      disk.close(try disk.open("/removed", for: .creating))
      try disk.syncDirectory("/")
      disk.close(try disk.open("/new", for: .creating))
      try disk.rename("/synced", to: "/renamed")
      try disk.remove("/removed")
      disk.losePower()
      disk.restart()
      let names = try disk.names(in: "/")
      #expect(names.contains("synced") != names.contains("renamed"))
      found.insert(names)
    }
    #expect(found.count == 8)
  }

  @Test func `pages dropped by a failed sync are not written by a later sync`() throws {
    var lost = 0
    for seed in 0..<50 as Range<UInt64> {
      let disk = SimulatedDisk(seed: seed, pageBytes: 16)
      let file = try disk.open("/file", for: .creating)
      try disk.syncDirectory("/")
      _ = try disk.append([UInt8](repeating: 7, count: 64), to: file)
      disk.decide { $0.operation == .sync ? .error(EIO) : nil }
      #expect(throws: SystemError(.sync, code: EIO, context: "/file")) { try disk.sync(file) }
      disk.decide { _ in nil }
      try disk.sync(file)
      disk.losePower()
      disk.restart()
      if try #require(disk.contents(of: "/file")).contains(0) { lost += 1 }
      #expect(disk.counts[.failedSync] == 1)
    }
    #expect(lost > 10)
  }

  @Test func `after a sync that the disk ignored, a power failure may lose the new data and names`()
    throws
  {
    var found: Set<[Bool]> = []
    for seed in 0..<100 as Range<UInt64> {
      let disk = SimulatedDisk(seed: seed)
      let file = try disk.open("/file", for: .creating)
      _ = try disk.append(Array("kept".utf8), to: file)
      try disk.sync(file)
      try disk.syncDirectory("/")
      disk.rot("/file", at: 0, bits: 1)
      disk.decide { _ in .lie }
      _ = try disk.append(Array("more".utf8), to: file)
      try disk.sync(file)
      disk.close(try disk.open("/new", for: .creating))
      try disk.syncDirectory("/")
      disk.losePower()
      disk.restart()
      let bytes = try #require(disk.contents(of: "/file"))
      #expect(bytes.starts(with: Array("jept".utf8)))
      found.insert([bytes.count == 8 && bytes[7] != 0, disk.contents(of: "/new") != nil])
    }
    #expect(found.count == 4)
  }

  @Test(.timeLimit(.minutes(1)))
  func `calls to the simulated disk can be short, be slow, fail or hang`()
    async throws
  {
    let disk = SimulatedDisk(pause: { #expect($0 == 5) })
    let file = try disk.open("/file", for: .creating)
    let bytes = Array("hello".utf8)
    disk.decide { _ in .short }
    #expect(try disk.append(bytes, to: file) == 3)
    disk.decide { _ in .error(ENOSPC) }
    #expect(throws: SystemError(.write, code: ENOSPC, context: "/file")) {
      try disk.append(bytes, to: file)
    }
    disk.decide { _ in .slow(5) }
    #expect(try disk.append(bytes, to: file) == 5)
    disk.decide { _ in .lie }
    try disk.sync(file)
    try disk.syncDirectory("/")
    disk.decide { $0.operation == .sync ? .never : nil }
    let waiting = Task { try disk.sync(file) }
    await disk.hasCaught()
    disk.endProcess()
    await #expect(throws: SystemError(.sync, code: EIO, context: "/file")) {
      try await waiting.value
    }
    disk.restart()
    #expect(disk.contents(of: "/file") == Array("helhello".utf8))
    disk.rot("/file", at: 1, bits: 3)
    #expect(disk.contents(of: "/file") == Array("hflhello".utf8))
    #expect(
      disk.counts == [
        .shortWrite: 1, .noSpace: 1, .slow: 1, .lie: 2, .never: 1, .processEnd: 1, .rot: 1,
      ])
  }
}

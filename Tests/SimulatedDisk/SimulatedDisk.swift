import Dispatch
package import FileSystem
import Glibc
import Locking
package import SystemSupport
import TestSupport

/// A disk in memory that tracks written and synced data separately and injects faults on request.
///
/// At a power failure, each unsynced page survives, is lost, or is torn. Directory entries survive
/// or are lost until their directory is synced. The outcome depends only on the seed and the calls.
///
/// May be used from any thread. Results are reproducible only if threads do not use the disk
/// concurrently.
package final class SimulatedDisk: Disk {
  private struct Contents {
    var random: SplitMix64
    var tree = SimulatedTree()
    var open: [Int32: (file: Int, path: String, purpose: OpenPurpose, offset: Int)] = [:]
    var lastDescriptor: Int32 = 2
    var calls = 0
    var bytesRead = 0
    /// Whether the process that used the disk has ended. Further calls have no effect.
    var isEnded = false
    var decide: @Sendable (DiskCall) -> DiskFault? = { _ in nil }
    var counts: [DiskEvent: Int] = [:]
    var waiting: [DispatchSemaphore] = []
  }

  private let contents: Guarded<Contents>
  private let caught = AsyncStream.makeStream(of: Void.self)
  private let pause: @Sendable (_ nanoseconds: UInt64) -> Void

  /// - Parameters:
  ///   - pageBytes: the size of a page in bytes. Small pages allow more different losses of small
  /// files.
  ///   - pause: called without a lock by slow calls to let time pass.
  package init(
    seed: UInt64 = 0, pageBytes: Int = 4096,
    pause: @escaping @Sendable (_ nanoseconds: UInt64) -> Void = { _ in }
  ) {
    contents = Guarded(
      Contents(random: SplitMix64(seed: seed), tree: SimulatedTree(pageBytes: pageBytes)))
    self.pause = pause
  }

  // MARK: Faults

  /// Calls `decide` before each later call to choose its fault. The closure may use the disk.
  package func decide(_ decide: @escaping @Sendable (DiskCall) -> DiskFault?) {
    contents.withLock { $0.decide = decide }
  }

  /// Simulates a power failure: unsynced data may be lost. Calls fail until ``restart()``.
  package func losePower() { end(.powerLoss) }

  /// Ends the process that uses the disk, while the machine keeps running. Calls fail until
  /// ``restart()``.
  package func endProcess() { end(.processEnd) }

  private func end(_ event: DiskEvent) {
    contents.withLock { contents in
      guard !contents.isEnded else { return }
      contents.isEnded = true
      contents.counts[event, default: 0] += 1
      contents.open = [:]
      guard event == .powerLoss else { return }
      contents.tree.losePower(&contents.random, &contents.counts)
    }
    release()
  }

  /// Lets another process use the disk, without faults. Closes all files of the last process.
  package func restart() {
    contents.withLock { contents in
      contents.isEnded = false
      contents.open = [:]
      contents.decide = { _ in nil }
    }
  }

  /// Whether the power failed or the process ended since the last ``restart()``.
  package var hasEnded: Bool { contents.withLock { $0.isEnded } }

  /// Resumes all calls with the fault ``DiskFault/never``.
  package func release() {
    for gate in contents.withLock({ exchange(&$0.waiting, with: []) }) { gate.signal() }
  }

  /// Returns when a call with the fault ``DiskFault/never`` is waiting.
  package func hasCaught() async {
    for await _ in caught.stream { return }
  }

  /// Flips bits of a synced byte.
  package func rot(_ path: String, at offset: Int, bits: UInt8 = 1) {
    contents.withLock { contents in
      contents.tree.rot(path, at: offset, bits: bits)
      contents.counts[.rot, default: 0] += 1
    }
  }

  /// Truncates a file, including its synced data.
  package func cut(_ path: String, at count: Int) {
    contents.withLock { contents in
      contents.tree.cut(path, at: count)
      contents.counts[.rot, default: 0] += 1
    }
  }

  /// The number of events of each kind so far.
  package var counts: [DiskEvent: Int] { contents.withLock { $0.counts } }

  // MARK: Contents

  /// The number of calls so far.
  package var calls: Int { contents.withLock { $0.calls } }

  /// The number of bytes read so far.
  package var bytesRead: Int { contents.withLock { $0.bytesRead } }

  /// Returns the bytes that a process would read now, or nil if the file does not exist.
  package func contents(of path: String) -> [UInt8]? {
    contents.withLock { try? $0.tree.file(at: path).current }
  }

  /// Applies the delay or the error of a call's fault. Returns a fault that the call must handle.
  private func begin(
    _ operation: SystemError.Operation, _ path: String, bytes: Int = 0
  ) throws(SystemError) -> DiskFault? {
    let (decide, number) = try contents.withLock { contents throws(SystemError) in
      guard !contents.isEnded else { throw SystemError(operation, code: EIO, context: path) }
      contents.calls += 1
      return (contents.decide, contents.calls)
    }
    let fault = decide(DiskCall(number: number, operation: operation, path: path, bytes: bytes))
    switch fault {
    case .powerLoss: losePower()
    case .processEnd: endProcess()
    case .slow(let nanoseconds):
      count(.slow)
      pause(nanoseconds)
    case .never:
      let gate = DispatchSemaphore(value: 0)
      contents.withLock { contents in
        contents.counts[.never, default: 0] += 1
        contents.waiting.append(gate)
      }
      caught.continuation.yield()
      gate.wait()
    case .error, .short, .lie, nil: break
    }
    let hasEnded = contents.withLock { $0.isEnded }
    guard !hasEnded else { throw SystemError(operation, code: EIO, context: path) }
    if case .error(let code) = fault {
      count(.error(code, in: operation))
      throw SystemError(operation, code: code, context: path)
    }
    return fault
  }

  private func count(_ event: DiskEvent) {
    contents.withLock { $0.counts[event, default: 0] += 1 }
  }

  private func path(of file: Int32) -> String {
    contents.withLock { $0.open[file]?.path ?? "" }
  }

  /// Performs a call on an open file.
  private func with<R: Sendable>(
    _ file: Int32, _ operation: SystemError.Operation,
    _ body: @Sendable (inout Contents, _ file: Int) throws(SystemError) -> R
  ) throws(SystemError) -> R {
    try contents.withLock { contents throws(SystemError) in
      guard let found = contents.open[file]?.file else {
        throw SystemError(operation, code: EBADF)
      }
      return try body(&contents, found)
    }
  }

  // MARK: Calls

  package func open(_ path: String, for purpose: OpenPurpose) throws(SystemError) -> Int32 {
    _ = try begin(purpose == .creating ? .create : .open, path)
    return try contents.withLock { contents throws(SystemError) in
      let file =
        purpose == .creating
        ? try contents.tree.create(path, isDirectory: false)
        : try contents.tree.find(path, .open)
      guard contents.tree.isFile(file) else {
        throw SystemError(.open, code: EISDIR, context: path)
      }
      contents.lastDescriptor += 1
      contents.open[contents.lastDescriptor] = (file, path, purpose, 0)
      return contents.lastDescriptor
    }
  }

  package func close(_ file: Int32) { contents.withLock { _ = $0.open.removeValue(forKey: file) } }

  package func read(
    _ file: Int32, into target: UnsafeMutableRawBufferPointer
  ) throws(SystemError) -> Int {
    let isShort = try begin(.read, path(of: file), bytes: target.count) == .short
    if isShort { count(.shortRead) }
    let size = isShort ? (target.count + 1) / 2 : target.count
    let bytes = try with(file, .read) { contents, number in
      let offset = contents.open[file]?.offset ?? 0
      let bytes = contents.tree.read(number, at: offset, count: size)
      contents.open[file]?.offset += bytes.count
      contents.bytesRead += bytes.count
      return bytes
    }
    target.copyBytes(from: bytes)
    return bytes.count
  }

  package func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int {
    let isShort = try begin(.write, path(of: file), bytes: bytes.count) == .short
    if isShort { count(.shortWrite) }
    let written = Array(bytes.prefix(isShort ? (bytes.count + 1) / 2 : bytes.count))
    try with(file, .write) { contents, number in
      guard contents.open[file]?.purpose == .changing else {
        return contents.tree.append(written, to: number)
      }
      contents.tree.change(number, at: contents.open[file]?.offset ?? 0, to: written)
      contents.open[file]?.offset += written.count
    }
    return written.count
  }

  package func seek(_ file: Int32, to offset: Int) throws(SystemError) {
    _ = try begin(.seek, path(of: file))
    try with(file, .seek) { contents, _ in contents.open[file]?.offset = offset }
  }

  package func truncate(_ file: Int32, to count: Int) throws(SystemError) {
    _ = try begin(.truncate, path(of: file), bytes: count)
    try with(file, .truncate) { $0.tree.truncate($1, to: count) }
  }

  package func sync(_ file: Int32) throws(SystemError) {
    let isLie: Bool
    do {
      isLie = try begin(.sync, path(of: file)) == .lie
    } catch {
      // As in Linux, some pages may be on the disk, and a later sync does not retry the other
      // pages.
      try? with(file, .sync) { $0.tree.failSync($1, &$0.random, &$0.counts) }
      throw error
    }
    if isLie { return count(.lie) }
    try with(file, .sync) { $0.tree.sync($1) }
  }

  package func state(of path: String) throws(SystemError) -> FileState {
    _ = try begin(.examine, path)
    return try contents.withLock { contents throws(SystemError) in
      try contents.tree.state(of: path)
    }
  }

  package func rename(_ path: String, to newPath: String) throws(SystemError) {
    _ = try begin(.rename, path)
    try contents.withLock { contents throws(SystemError) in
      try contents.tree.rename(path, to: newPath)
    }
  }

  package func remove(_ path: String) throws(SystemError) {
    _ = try begin(.remove, path)
    try contents.withLock { contents throws(SystemError) in try contents.tree.remove(path) }
  }

  package func makeDirectory(_ path: String) throws(SystemError) {
    _ = try begin(.create, path)
    try contents.withLock { contents throws(SystemError) in
      _ = try contents.tree.create(path, isDirectory: true)
    }
  }

  package func removeDirectory(_ path: String) throws(SystemError) {
    _ = try begin(.remove, path)
    try contents.withLock { contents throws(SystemError) in
      try contents.tree.removeDirectory(path)
    }
  }

  package func names(in directory: String) throws(SystemError) -> [String] {
    _ = try begin(.read, directory)
    return try contents.withLock { contents throws(SystemError) in
      try contents.tree.directory(at: directory).current.keys.sorted()
    }
  }

  package func syncDirectory(_ path: String) throws(SystemError) {
    if try begin(.syncDirectory, path) == .lie { return count(.lie) }
    try contents.withLock { contents throws(SystemError) in
      try contents.tree.syncDirectory(path)
    }
  }
}

import FileSystem
import Glibc
import SystemSupport
import TestSupport

/// The files and directories of a simulated disk, both as processes see them and as they would be
/// if all unsynced changes were lost.
struct SimulatedTree: Sendable {
  struct File: Sendable {
    var current: [UInt8] = []
    var durable: [UInt8] = []
    /// The pages that the next sync writes.
    var dirty: Set<Int> = []
    var modified = 0
    var durableModified = 0
  }

  struct Directory: Sendable {
    /// The inode numbers of files and directories, by name.
    var current: [String: Int] = [:]
    var durable: [String: Int] = [:]
    /// The changes that turn `durable` into `current`, in order. Each maps names to new inode
    /// numbers.
    var changes: [[String: Int?]] = []

    mutating func change(_ entries: [String: Int?]) {
      for (name, node) in entries { current[name] = node }
      changes.append(entries)
    }
  }

  enum Node: Sendable {
    case file(File)
    case directory(Directory)
  }

  let pageBytes: Int
  var nodes: [Node] = [.directory(Directory())]
  /// The number of changes so far, also used as the modification time of files.
  private var clock = 0

  init(pageBytes: Int = 4096) { self.pageBytes = pageBytes }

  // MARK: Lookup

  func find(_ path: String, _ operation: SystemError.Operation) throws(SystemError) -> Int {
    var node = 0
    for name in path.split(separator: "/") {
      guard case .directory(let directory) = nodes[node] else {
        throw SystemError(operation, code: ENOTDIR, context: path)
      }
      guard let next = directory.current[String(name)] else {
        throw SystemError(operation, code: ENOENT, context: path)
      }
      node = next
    }
    return node
  }

  private func parent(
    of path: String, _ operation: SystemError.Operation
  ) throws(SystemError) -> (node: Int, name: String) {
    let names = path.split(separator: "/")
    guard let name = names.last else { throw SystemError(operation, code: EEXIST, context: path) }
    let node = try find(names.dropLast().joined(separator: "/"), operation)
    guard case .directory = nodes[node] else {
      throw SystemError(operation, code: ENOTDIR, context: path)
    }
    return (node, String(name))
  }

  func isFile(_ node: Int) -> Bool {
    if case .file = nodes[node] { true } else { false }
  }

  func file(at path: String) throws(SystemError) -> File {
    guard case .file(let file) = nodes[try find(path, .open)] else {
      throw SystemError(.open, code: EISDIR, context: path)
    }
    return file
  }

  func directory(at path: String) throws(SystemError) -> Directory {
    guard case .directory(let directory) = nodes[try find(path, .read)] else {
      throw SystemError(.read, code: ENOTDIR, context: path)
    }
    return directory
  }

  func state(of path: String) throws(SystemError) -> FileState {
    switch nodes[try find(path, .examine)] {
    case .file(let file):
      FileState(kind: .file, bytes: file.current.count, modified: file.modified)
    case .directory: FileState(kind: .directory, bytes: 0, modified: 0)
    }
  }

  // MARK: Directories

  private mutating func change(
    _ directory: Int, _ body: (inout Directory) -> Void
  ) {
    guard case .directory(var changed) = nodes[directory] else { return }
    body(&changed)
    nodes[directory] = .directory(changed)
  }

  mutating func create(_ path: String, isDirectory: Bool) throws(SystemError) -> Int {
    let (parent, name) = try parent(of: path, .create)
    guard (try? find(path, .create)) == nil else {
      throw SystemError(.create, code: EEXIST, context: path)
    }
    clock += 1
    nodes.append(
      isDirectory
        ? .directory(Directory()) : .file(File(modified: clock, durableModified: clock)))
    let node = nodes.count - 1
    change(parent) { $0.change([name: node]) }
    return node
  }

  mutating func rename(_ path: String, to newPath: String) throws(SystemError) {
    let node = try find(path, .rename)
    let (from, old) = try parent(of: path, .rename)
    let (to, new) = try parent(of: newPath, .rename)
    guard from == to else { throw SystemError(.rename, code: EXDEV, context: path) }
    guard old != new else { return }
    change(from) { $0.change([old: nil, new: node]) }
  }

  mutating func remove(_ path: String) throws(SystemError) {
    guard isFile(try find(path, .remove)) else {
      throw SystemError(.remove, code: EISDIR, context: path)
    }
    let (parent, name) = try parent(of: path, .remove)
    change(parent) { $0.change([name: nil]) }
  }

  mutating func removeDirectory(_ path: String) throws(SystemError) {
    guard case .directory(let directory) = nodes[try find(path, .remove)] else {
      throw SystemError(.remove, code: ENOTDIR, context: path)
    }
    guard directory.current.isEmpty else {
      throw SystemError(.remove, code: ENOTEMPTY, context: path)
    }
    let (parent, name) = try parent(of: path, .remove)
    change(parent) { $0.change([name: nil]) }
  }

  mutating func syncDirectory(_ path: String) throws(SystemError) {
    let node = try find(path, .syncDirectory)
    change(node) { directory in
      directory.durable = directory.current
      directory.changes = []
    }
  }

  // MARK: Files

  private mutating func change(_ node: Int, _ body: (inout File) -> Void) {
    guard case .file(var file) = nodes[node] else { return }
    // Keeps the bytes uniquely referenced, so that they are changed in place.
    nodes[node] = .file(File())
    body(&file)
    nodes[node] = .file(file)
  }

  func read(_ node: Int, at offset: Int, count: Int) -> [UInt8] {
    guard case .file(let file) = nodes[node], offset < file.current.count else { return [] }
    return Array(file.current[offset..<min(offset + count, file.current.count)])
  }

  mutating func append(_ bytes: [UInt8], to node: Int) {
    guard !bytes.isEmpty else { return }
    clock += 1
    let (now, pageBytes) = (clock, pageBytes)
    change(node) { (file: inout File) in
      let start = file.current.count
      file.current += bytes
      file.dirty.formUnion(start / pageBytes...(file.current.count - 1) / pageBytes)
      file.modified = now
    }
  }

  /// Overwrites existing bytes.
  mutating func change(_ node: Int, at offset: Int, to bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    clock += 1
    let (now, pageBytes) = (clock, pageBytes)
    change(node) { (file: inout File) in
      let range = offset..<offset + bytes.count
      file.current.replaceSubrange(range, with: bytes)
      file.dirty.formUnion(range.lowerBound / pageBytes...(range.upperBound - 1) / pageBytes)
      file.modified = now
    }
  }

  mutating func truncate(_ node: Int, to count: Int) {
    clock += 1
    let (now, pageBytes) = (clock, pageBytes)
    change(node) { (file: inout File) in
      file.current.resize(to: count)
      file.dirty = file.dirty.filter { $0 * pageBytes < count }
      if count > 0 { file.dirty.insert((count - 1) / pageBytes) }
      file.modified = now
    }
  }

  mutating func sync(_ node: Int) {
    let pageBytes = pageBytes
    change(node) { (file: inout File) in
      file.durable.resize(to: file.current.count)
      for page in file.dirty { file.write(page, pageBytes) }
      file.dirty = []
      file.durableModified = file.modified
    }
  }

  /// Simulates a failed sync, which writes some pages and marks the others as clean.
  mutating func failSync(
    _ node: Int, _ random: inout SplitMix64, _ counts: inout [DiskEvent: Int]
  ) {
    let pageBytes = pageBytes
    var written: Set<Int> = []
    guard case .file(let file) = nodes[node] else { return }
    for page in file.dirty.sorted() {
      let isKept = random.oneIn(2)
      if isKept { written.insert(page) }
      counts[isKept ? .pageKept : .pageLost, default: 0] += 1
    }
    change(node) { (file: inout File) in
      for page in written.sorted() {
        if file.durable.count < file.current.count {
          file.durable.resize(
            to: max(file.durable.count, min((page + 1) * pageBytes, file.current.count)))
        }
        file.write(page, pageBytes)
      }
      file.dirty = []
    }
  }

  mutating func cut(_ path: String, at count: Int) {
    guard let node = try? find(path, .open) else { return }
    truncate(node, to: count)
    sync(node)
  }

  mutating func rot(_ path: String, at offset: Int, bits: UInt8) {
    guard let node = try? find(path, .open) else { return }
    change(node) { (file: inout File) in
      file.current[offset] ^= bits
      if offset < file.durable.count { file.durable[offset] ^= bits }
    }
  }
}

extension [UInt8] {
  /// Truncates the contents or extends them with zeros.
  mutating func resize(to size: Int) {
    if size < count {
      removeSubrange(size...)
    } else {
      append(contentsOf: repeatElement(0, count: size - count))
    }
  }
}

extension SimulatedTree.File {
  /// Writes the current contents of a page, up to the size of the file on the disk.
  mutating func write(_ page: Int, _ pageBytes: Int) {
    write(page * pageBytes..<(page + 1) * pageBytes)
  }

  /// Writes a range of bytes. Beyond the current end of the file, the range is filled with zeros.
  mutating func write(_ range: Range<Int>) {
    for offset in range.clamped(to: 0..<durable.count) {
      durable[offset] = offset < current.count ? current[offset] : 0
    }
  }
}

import Dispatch
import FoundationEssentials
import Synchronization

extension Shared where Value: Codable {
  /// A value that is kept in a file, as JSON.
  ///
  /// The file is read here, and written after changes, by a thread of its own: always the newest value,
  /// under another name first, so that a crash leaves the old file or the new one. It is not synced to
  /// the disk, and changes that other programs make to it are not noticed. Values of the same file within a
  /// program are one value: the file is read for the first of them.
  /// - Parameters:
  ///   - path: the file; its directory must exist.
  ///   - initial: the value if there is no such file.
  ///   - merge: see ``init(_:merge:)``; the one of the first value of the file counts.
  ///   - onFailure: called, on the thread that writes, with an error of writing. The value in memory is
  ///     right nevertheless, and the next change tries again.
  /// - Throws: the error of reading or decoding a file that exists; ``SharedFileError`` if the file is used
  ///   for a value of another type.
  public convenience init(
    file path: String, initial: @autoclosure () -> Value, merge: Merge? = nil,
    onFailure: @escaping @Sendable (any Error) -> Void
  ) throws {
    let url = URL(filePath: path).standardizedFileURL.resolvingSymlinksInPath()
    let core = try SharedFiles.core(of: url.path) {
      let exists = FileManager.default.fileExists(atPath: url.path)
      let value =
        exists ? try JSONDecoder().decode(Value.self, from: Data(contentsOf: url)) : initial()
      let file = SharedFile<Value>(label: url.path) { value in
        try JSONEncoder().encode(value).write(to: url, options: .atomic)
      }
      return SharedCore(value, merge: merge, file: file)
    }
    core.file?.onFailure(onFailure)
    self.init(core)
  }
}

/// Why a file cannot hold a shared value.
public enum SharedFileError: Error, Equatable {
  /// The file is used for a value of another type.
  case holdsAnotherType(path: String)
}

/// The files of all shared values that are in use.
private enum SharedFiles {
  private struct Entry: Sendable {
    weak var core: (any AnyObject & Sendable)?
    /// It outlives the value until that is written.
    weak var file: (any PendingFile)?
  }

  private static let entries = Mutex<[String: Entry]>([:])

  /// The value of a file; made by `make` if it is not in use.
  static func core<Value>(
    of path: String, make: () throws -> SharedCore<Value>
  ) throws -> SharedCore<Value> {
    try entries.withLock { entries in
      if let found = entries[path]?.core {
        guard let core = found as? SharedCore<Value> else {
          throw SharedFileError.holdsAnotherType(path: path)
        }
        return core
      }
      entries[path]?.file?.waitUntilWritten()
      let core = try make()
      entries = entries.filter { $0.value.core != nil || $0.value.file != nil }
      entries[path] = Entry(core: core, file: core.file)
      return core
    }
  }
}

private protocol PendingFile: AnyObject, Sendable {
  func waitUntilWritten()
}

/// Writes the newest of the values that it is given.
final class SharedFile<Value: Sendable>: PendingFile {
  private let queue: DispatchQueue
  private let write: @Sendable (Value) throws -> Void
  private let failureHandlers = Mutex<[@Sendable (any Error) -> Void]>([])
  /// What is not written yet.
  private let pending = Mutex<Value?>(nil)

  init(label: String, write: @escaping @Sendable (Value) throws -> Void) {
    queue = DispatchQueue(label: label)
    self.write = write
  }

  /// Calls `handler` with each error of writing.
  func onFailure(_ handler: @escaping @Sendable (any Error) -> Void) {
    failureHandlers.withLock { $0.append(handler) }
  }

  func waitUntilWritten() { queue.sync {} }

  func save(_ value: Value) {
    let mustSchedule = pending.withLock { pending in
      defer { pending = value }
      return pending == nil
    }
    if mustSchedule { queue.async { [self] in writeNewest() } }
  }

  private func writeNewest() {
    let newest = pending.withLock { pending in
      defer { pending = nil }
      return pending
    }
    guard let newest else { return }
    do {
      try write(newest)
    } catch {
      for handler in failureHandlers.withLock({ $0 }) { handler(error) }
    }
  }

  func flush() async {
    await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
  }
}

import Dispatch
import FoundationEssentials
import Locking

extension Shared where Value: Codable {
  /// Makes a shared value that is stored in a file, as JSON.
  ///
  /// The file is read by this initializer. After changes, a background queue writes the newest
  /// value to a temporary file and renames the file, so after a crash it contains the old or the
  /// new value. The file is not synced to disk, and changes by other programs are not noticed. All
  /// shared values of the same file within a program are one value, so the file is read only once.
  /// - Parameters:
  ///   - path: The path of the file, whose directory must exist.
  ///   - initial: The value to use if the file does not exist.
  ///   - merge: See ``init(_:merge:)``. Only the function passed for the first value of the file is
  ///     used.
  ///   - onFailure: Called on the background queue if a write fails. The value in memory stays
  ///     valid, and the next change causes another attempt to write.
  /// - Throws: An error of reading or decoding an existing file, or ``SharedFileError`` if the file
  ///   is already used for a value of another type.
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

/// The reason why a file cannot hold a shared value.
public enum SharedFileError: Error, Equatable {
  /// The file is already used for a value of another type.
  case holdsAnotherType(path: String)
}

/// The files of all shared values that are in use.
private enum SharedFiles {
  private struct Entry: Sendable {
    weak var core: (any AnyObject & Sendable)?
    /// The file outlives the value until the last write has finished.
    weak var file: (any PendingFile)?
  }

  private static let entries = Guarded<[String: Entry]>([:])

  /// Returns the value of a file, and calls `make` if the file is not in use.
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

/// Writes the newest of the values passed to it.
final class SharedFile<Value: Sendable>: PendingFile {
  private let queue: DispatchQueue
  private let write: @Sendable (Value) throws -> Void
  private let failureHandlers = Guarded<[@Sendable (any Error) -> Void]>([])
  /// The value that has not been written yet.
  private let pending = Guarded<Value?>(nil)

  init(label: String, write: @escaping @Sendable (Value) throws -> Void) {
    queue = DispatchQueue(label: label)
    self.write = write
  }

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

import Dispatch
import FoundationEssentials
import Synchronization

extension Shared where Value: Codable {
  /// A value that is kept in a file, as JSON.
  ///
  /// The file is read here, and written after changes, by a thread of its own: always the newest value,
  /// under another name first, so that a crash leaves the old file or the new one. It is not synced to
  /// the disk, and changes that others make to it are not noticed.
  /// - Parameters:
  ///   - path: the file; its directory must exist.
  ///   - initial: the value if there is no such file.
  ///   - onFailure: called, on the thread that writes, with an error of writing. The value in memory is
  ///     right nevertheless, and the next change tries again.
  /// - Throws: the error of reading or decoding a file that exists.
  public convenience init(
    file path: String, initial: @autoclosure () -> Value,
    onFailure: @escaping @Sendable (any Error) -> Void
  ) throws {
    let url = URL(filePath: path)
    let exists = FileManager.default.fileExists(atPath: path)
    let value =
      exists ? try JSONDecoder().decode(Value.self, from: Data(contentsOf: url)) : initial()
    let file = SharedFile<Value>(label: path, onFailure: onFailure) { value in
      try JSONEncoder().encode(value).write(to: url, options: .atomic)
    }
    self.init(value, file: file)
  }
}

/// Writes the newest of the values that it is given.
final class SharedFile<Value: Sendable>: Sendable {
  private let queue: DispatchQueue
  private let write: @Sendable (Value) throws -> Void
  private let onFailure: @Sendable (any Error) -> Void
  /// What is not written yet.
  private let pending = Mutex<Value?>(nil)

  init(
    label: String, onFailure: @escaping @Sendable (any Error) -> Void,
    write: @escaping @Sendable (Value) throws -> Void
  ) {
    queue = DispatchQueue(label: label)
    self.onFailure = onFailure
    self.write = write
  }

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
    do { try write(newest) } catch { onFailure(error) }
  }

  func flush() async {
    await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
  }
}

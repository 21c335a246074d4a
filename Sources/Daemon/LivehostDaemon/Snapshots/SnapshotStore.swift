import Foundation
package import Platform
import Synchronization

/// One life of a room, from its opening to its closing, as the store knows it.
package final class RoomLifetime: Sendable {
  package let name: String
  fileprivate let isGone = Atomic<Bool>(false)
  /// Lives of rooms are numbered, because a room may be reopened on another lane before its
  /// previous life is over.
  fileprivate let number: UInt64
  private static let count = Atomic<UInt64>(0)

  package init(_ name: String) {
    self.name = name
    number = Self.count.wrappingAdd(1, ordering: .relaxed).newValue
  }
}

/// Keeps the newest snapshot of each room in a directory, with one file per room. May be used from
/// any thread.
///
/// Encodes and writes on a thread of its own. A snapshot replaces an older one of the same room
/// that is still waiting. Files are replaced as a whole, so that each is a complete snapshot at any
/// moment, even if the process is killed; after a power failure it may be an older one, or missing.
package final class SnapshotStore: Sendable {
  /// What to do with a room's file.
  private struct Request: Sendable {
    /// The snapshot to write; `nil` to remove the file.
    var snapshot: RoomSnapshot?
    var completions: [Completion]
  }

  /// Called with whether the request, or the one that replaced it, was carried out by the kernel.
  package typealias Completion = @Sendable (_ isWritten: Bool) -> Void

  private struct Inbox: Sendable {
    var requests: [String: Request] = [:]
    /// The rooms in the order of their requests.
    var rooms: [String] = []
    /// The newest known life of each room, to which its file belongs.
    var lives: [String: UInt64] = [:]
    var isClosed = false
    var whenDone: [CheckedContinuation<Void, Never>] = []
    var isDone = false

    /// Adds a request, which replaces an older one and also answers its senders.
    mutating func enter(
      _ snapshot: RoomSnapshot?, _ room: String, _ completion: @escaping Completion
    ) {
      if requests[room] == nil { rooms.append(room) }
      let older = requests[room]?.completions ?? []
      requests[room] = Request(snapshot: snapshot, completions: older + [completion])
    }
  }

  private let directory: URL
  private let onProblem: @Sendable (String) -> Void
  private let inbox = Guarded(Inbox())
  private let signal: WakeSignal
  private let failing = Atomic<Bool>(false)

  /// Whether the last write of a room failed.
  package var isFailing: Bool { failing.load(ordering: .relaxed) }

  /// Makes a store whose snapshots wait for ``start()``.
  ///
  /// - Parameter onProblem: called if a directory or a file cannot be used, and not again until one
  ///   can.
  package init(
    directory: String, onProblem: @escaping @Sendable (String) -> Void = { _ in }
  ) throws(SystemError) {
    self.directory = URL(fileURLWithPath: directory, isDirectory: true)
    self.onProblem = onProblem
    signal = try WakeSignal()
  }

  /// Starts the thread that writes, to be ended by ``close()``.
  package func start() throws(SystemError) {
    try ServiceThread.start(name: "snapshots") { [self] in work() }
  }

  /// Queues a snapshot for writing. Takes a short lock but never blocks otherwise.
  package func post(
    _ snapshot: RoomSnapshot, of room: RoomLifetime, completion: @escaping Completion = { _ in }
  ) {
    let isTaken = inbox.withLock { inbox in
      guard !inbox.isClosed, !room.isGone.load(ordering: .relaxed),
        room.number >= inbox.lives[room.name] ?? 0
      else { return false }
      inbox.lives[room.name] = room.number
      inbox.enter(snapshot, room.name, completion)
      return true
    }
    if isTaken { signal.raise() } else { completion(false) }
  }

  /// Queues the room's file for removal, because the room is closed. Later snapshots of it are
  /// refused.
  package func remove(_ room: RoomLifetime, completion: @escaping Completion = { _ in }) {
    let isTaken = inbox.withLock { inbox in
      room.isGone.store(true, ordering: .relaxed)
      guard !inbox.isClosed, room.number >= inbox.lives[room.name] ?? 0 else { return false }
      inbox.lives[room.name] = nil
      inbox.enter(nil, room.name, completion)
      return true
    }
    if isTaken { signal.raise() } else { completion(false) }
  }

  /// Returns once everything posted is done. Later requests are refused.
  package func close() async {
    await withCheckedContinuation { continuation in
      let isDone = inbox.withLock { inbox in
        inbox.isClosed = true
        if !inbox.isDone { inbox.whenDone.append(continuation) }
        return inbox.isDone
      }
      if isDone { continuation.resume() } else { signal.raise() }
    }
  }

  // MARK: The thread

  private func work() {
    while let (room, request) = take() {
      guard let request else {
        _ = signal.wait(nanoseconds: nil)
        continue
      }
      do {
        if let snapshot = request.snapshot { try write(snapshot) } else { try removeFile(of: room) }
        failing.store(false, ordering: .relaxed)
        request.completions.forEach { $0(true) }
      } catch {
        if !failing.exchange(true, ordering: .relaxed) {
          onProblem("the state of room \(room) is not kept for the next start: \(Self.text(error))")
        }
        request.completions.forEach { $0(false) }
      }
    }
  }

  /// The oldest request; without one if there is nothing to do; `nil` at the end.
  private func take() -> (room: String, request: Request?)? {
    var ended: [CheckedContinuation<Void, Never>] = []
    defer { ended.forEach { $0.resume() } }
    return inbox.withLock { inbox in
      if let room = inbox.rooms.first {
        inbox.rooms.removeFirst()
        return (room, inbox.requests.removeValue(forKey: room))
      }
      guard inbox.isClosed else { return ("", nil) }
      inbox.isDone = true
      ended = exchange(&inbox.whenDone, with: [])
      return nil
    }
  }

  private func write(_ snapshot: RoomSnapshot) throws {
    let bytes = try JSONEncoder().encode(snapshot)
    let file = self.file(of: snapshot.room)
    do {
      try bytes.write(to: file, options: .atomic)
    } catch CocoaError.fileNoSuchFile {
      try FileManager.default.createDirectory(
        at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o750])
      try bytes.write(to: file, options: .atomic)
    }
  }

  private func removeFile(of room: String) throws {
    do {
      try FileManager.default.removeItem(at: file(of: room))
    } catch CocoaError.fileNoSuchFile {
      // The room was closed before it was ever written.
    }
  }

  private func file(of room: String) -> URL {
    directory.appendingPathComponent(room + Self.suffix, isDirectory: false)
  }

  private static let suffix = ".json"

  // MARK: The start

  /// The snapshots left by the last run, in the order of their rooms' names. A snapshot that cannot
  /// be read is set aside and reported to ``onProblem``, and does not affect the others.
  package func load() -> [RoomSnapshot] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
    // Files that were being written when the last run was killed; the name is Foundation's.
    for name in names where name.hasPrefix(".dat.nosync") {
      try? FileManager.default.removeItem(at: directory.appendingPathComponent(name))
    }
    return names.filter { $0.hasSuffix(Self.suffix) }.sorted().compactMap(read)
  }

  private func read(_ name: String) -> RoomSnapshot? {
    let file = directory.appendingPathComponent(name, isDirectory: false)
    do {
      let bytes = try Data(contentsOf: file)
      let snapshot = try JSONDecoder().decode(RoomSnapshot.self, from: bytes)
      guard snapshot.room + Self.suffix == name else {
        throw RoomSnapshot.Unreadable.name(snapshot.room)
      }
      try snapshot.validate()
      return snapshot
    } catch {
      let aside = file.appendingPathExtension("unreadable")
      try? FileManager.default.removeItem(at: aside)
      try? FileManager.default.moveItem(at: file, to: aside)
      onProblem(
        "the kept state in \(file.path) cannot be used and was renamed to "
          + "\(aside.lastPathComponent): \(Self.text(error))")
      return nil
    }
  }

  private static func text(_ error: any Error) -> String {
    switch error {
    case let error as RoomSnapshot.Unreadable: error.description
    case let error as DecodingError: "\(error)"
    default: error.localizedDescription
    }
  }
}

import Foundation
import Glibc
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
    var pings: [@Sendable () -> Void] = []

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
  private let problem = Guarded<PresentFailure?>(nil)
  private let aside = Guarded<[RoomAside]>([])

  /// Why the last write of a room failed, and since when writes have; `nil` if it succeeded.
  package var failure: PresentFailure? { problem.withLock { $0 } }

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

  /// Calls `body` soon on the thread that writes, not while the disk holds it; at once if the thread has
  /// ended.
  package func ping(_ body: @escaping @Sendable () -> Void) {
    let hasEnded = inbox.withLock { inbox in
      if !inbox.isDone { inbox.pings.append(body) }
      return inbox.isDone
    }
    if hasEnded { body() } else { signal.raise() }
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
      for ping in inbox.withLock({ exchange(&$0.pings, with: []) }) { ping() }
      guard let request else {
        _ = signal.wait(nanoseconds: nil)
        continue
      }
      do {
        if let snapshot = request.snapshot { try write(snapshot) } else { try removeFile(of: room) }
        problem.withLock { $0 = nil }
        request.completions.forEach { $0(true) }
      } catch {
        let reason = "the state of room \(room) is not kept for the next start: \(Self.text(error))"
        let isNew = problem.withLock { problem in
          let since = problem?.since ?? WallClock.milliseconds()
          defer { problem = PresentFailure(reason: reason, since: since) }
          return problem == nil
        }
        if isNew { onProblem(reason) }
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

  /// The rooms whose snapshots the last run left, in the order of their names. Notes which have been set
  /// aside.
  package func rooms() -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
    // Files that were being written when the last run was killed; the name is Foundation's.
    for name in names where name.hasPrefix(".dat.nosync") {
      try? FileManager.default.removeItem(at: directory.appendingPathComponent(name))
    }
    aside.withLock { rooms in
      rooms = names.sorted().filter { $0.hasSuffix(Self.asideSuffix) }
        .map { RoomAside(file: directory.appendingPathComponent($0)) }
    }
    return names.filter { $0.hasSuffix(Self.suffix) }.map { String($0.dropLast(Self.suffix.count)) }
      .sorted()
  }

  /// The snapshot of a room. One that cannot be read is set aside and reported to ``onProblem``; the
  /// result is `nil` then.
  package func load(_ room: String) -> RoomSnapshot? {
    let file = file(of: room)
    do {
      let size = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int ?? 0
      guard size <= Self.maximumBytes else { throw RoomSnapshot.Unreadable.size(size) }
      let bytes = try Data(contentsOf: file)
      let snapshot = try JSONDecoder().decode(RoomSnapshot.self, from: bytes)
      guard snapshot.room == room else { throw RoomSnapshot.Unreadable.name(snapshot.room) }
      try snapshot.validate()
      return snapshot
    } catch {
      let aside = setAside(room, as: "unreadable")
      onProblem(
        "the kept state in \(file.path) cannot be used and was renamed to \(aside): "
          + Self.text(error))
      return nil
    }
  }

  /// The largest file that is read: several times what a room may take. To decode one takes some times
  /// as much memory.
  private static let maximumBytes = 64 << 20

  /// Renames the file of a room, so that it is kept but not read again. Returns its new name.
  private func setAside(_ room: String, as reason: String) -> String {
    let file = file(of: room)
    let aside = file.appendingPathExtension(reason)
    try? FileManager.default.removeItem(at: aside)
    try? FileManager.default.moveItem(at: file, to: aside)
    return aside.lastPathComponent
  }

  // MARK: Rooms at which the daemon died

  /// How often the daemon may die while it restores a room, until the room is set aside.
  private static let maximumDeaths = 2
  private static let asideReason = "set-aside"
  private static let asideSuffix = "\(suffix).\(asideReason)"

  /// A room that is not restored any more.
  package struct RoomAside: Sendable {
    package let room: String
    /// Where its state is.
    package let path: String
    /// Where it has to be for the room to be restored.
    package var restoredPath: String {
      String(path.dropLast(SnapshotStore.asideReason.utf8.count + 1))
    }
    /// Milliseconds since 1970.
    package let since: Int

    fileprivate init(file: URL) {
      room = String(file.lastPathComponent.dropLast(SnapshotStore.asideSuffix.utf8.count))
      path = file.path
      var status = stat()
      // The change is that of the name.
      since = lstat(path, &status) == 0 ? status.st_ctim.tv_sec * 1000 : 0
    }
  }

  /// The rooms that this run or an earlier one has set aside, by ``rooms()`` and
  /// ``beginRestoration(of:deaths:)``.
  package var roomsAside: [RoomAside] { aside.withLock { $0 } }

  /// The room that was being restored when the last run ended, and how many runs in a row ended there.
  package func unfinishedRestoration() -> (room: String, deaths: Int)? {
    guard let text = try? String(contentsOf: restorationFile, encoding: .utf8) else { return nil }
    let parts = text.split(separator: " ")
    guard parts.count == 2, let deaths = Int(parts[1]) else { return nil }
    return (String(parts[0]), deaths)
  }

  /// Notes that a room is about to be restored. Returns `false` if the daemon has died at that too often:
  /// the room's file has been set aside.
  ///
  /// - Parameter deaths: how many runs in a row ended while this room was restored.
  package func beginRestoration(of room: String, deaths: Int) -> Bool {
    guard deaths < Self.maximumDeaths else {
      let name = setAside(room, as: Self.asideReason)
      aside.withLock { rooms in
        rooms.removeAll { $0.room == room }
        rooms.append(RoomAside(file: directory.appendingPathComponent(name)))
      }
      return false
    }
    // Survives the process; a power failure is nobody's fault.
    try? Data("\(room) \(deaths + 1)".utf8).write(to: restorationFile)
    return true
  }

  /// Notes that no room is being restored any more.
  package func endRestoration() { try? FileManager.default.removeItem(at: restorationFile) }

  private var restorationFile: URL {
    directory.appendingPathComponent("restoring", isDirectory: false)
  }

  private static func text(_ error: any Error) -> String {
    switch error {
    case let error as RoomSnapshot.Unreadable: error.description
    case let error as DecodingError: "\(error)"
    default: error.localizedDescription
    }
  }
}

package import ControlInterface
package import FileSystem
import Foundation
import Glibc
import JSON
import LiveEvents
import Locking
package import Recordings
import Synchronization
package import SystemSupport

/// Keeps the two newest snapshots of each room in a directory. May be used from any thread.
///
/// A dedicated thread encodes, writes and syncs the snapshots. A snapshot replaces an older one of
/// the same room that is still waiting. The previously written snapshot is kept, in case the disk
/// damages the newest one (see ``StateDirectory``).
package final class SnapshotStore: Sendable {
  package typealias Notice = @Sendable () -> Void

  /// Receives whether the request, or a newer request that replaced it, was carried out and
  /// survives a power failure.
  package typealias Completion = @Sendable (_ isWritten: Bool) -> Void

  private let files: StateDirectory
  private let mostWaiting: Int
  private let onProblem: @Sendable (String) -> Void
  private let inbox = Guarded(SnapshotInbox())
  private let signal: WakeSignal
  private let problem = Guarded<PresentFailure?>(nil)
  private let lost = Guarded<[Problem]>([])
  private let aside = Guarded<[RoomAside]>([])

  /// Why the last write failed, and when the first of the consecutive failures occurred; `nil` if
  /// the last write succeeded.
  package var failure: PresentFailure? { problem.withLock { $0 } }

  /// Creates a store. Snapshots wait until ``start()`` is called.
  ///
  /// - Parameters:
  ///   - mostWaiting: the number of waiting rooms at which the store is busy, see ``isBusy``.
  ///   - onProblem: called if a directory or a file cannot be used. Of consecutive failed writes,
  ///     only the first is reported.
  package init(
    directory: String, disk: any Disk = SystemDisk(), mostWaiting: Int = 256,
    onProblem: @escaping @Sendable (String) -> Void = { _ in }
  ) throws(SystemError) {
    files = StateDirectory(directory, disk: disk)
    self.mostWaiting = mostWaiting
    self.onProblem = onProblem
    signal = try WakeSignal()
  }

  /// Whether snapshots that are not required should be skipped, because so many rooms are waiting
  /// that writing them takes some seconds.
  package var isBusy: Bool { inbox.withLock { $0.count >= mostWaiting } }

  /// Starts the thread that writes. ``close()`` ends it.
  package func start() throws(SystemError) {
    try ServiceThread.start(name: "snapshots") { [self] in work() }
  }

  /// Queues a snapshot for writing, unless a newer one of the room was posted before it. Takes a
  /// short lock but never blocks otherwise.
  ///
  /// - Parameter number: the result of ``RoomLifetime/nextSnapshot()`` when the snapshot was taken;
  ///   by default, the snapshot was taken just now.
  package func post(
    _ snapshot: RoomSnapshot, _ number: UInt64? = nil, of room: RoomLifetime,
    completion: @escaping Completion = { _ in }
  ) {
    let number = number ?? room.nextSnapshot()
    let isKept = inbox.withLock { $0.add(snapshot, number, of: room, completion) }
    if let isKept { completion(isKept) } else { signal.raise() }
  }

  /// Queues the room's file for removal, because the room is closed. Later snapshots of the room
  /// are refused. A failed removal is tried again with the next write.
  ///
  /// - Parameter whenGone: called once the file is removed permanently, or was replaced by the file
  ///   of a newer room of the same name. It may never be called if the process ends first.
  package func remove(
    _ room: RoomLifetime, completion: @escaping Completion = { _ in },
    whenGone: @escaping Notice = {}
  ) {
    let (isTaken, isGone) = inbox.withLock { inbox in
      room.isGone.store(true, ordering: .relaxed)
      return inbox.addRemoval(of: room, completion, whenGone)
    }
    guard !isTaken else { return signal.raise() }
    if isGone { whenGone() }
    completion(false)
  }

  /// Calls `body` on the thread that writes, as soon as it is not waiting for the disk; immediately
  /// if the thread has ended.
  package func ping(_ body: @escaping @Sendable () -> Void) {
    if inbox.withLock({ $0.add(ping: body) }) { signal.raise() } else { body() }
  }

  /// Returns once all posted requests are done. Later requests are refused.
  package func close() async {
    await withCheckedContinuation { continuation in
      let isDone = inbox.withLock { $0.close(continuation) }
      if isDone { continuation.resume() } else { signal.raise() }
    }
  }

  // MARK: The thread

  private func work() {
    while true {
      let (group, pings) = inbox.withLock { ($0.takeGroup(), $0.takePings()) }
      for ping in pings { ping() }
      guard let group else { break }
      if group.isEmpty { _ = signal.wait(nanoseconds: nil) } else { carryOut(group) }
    }
    for ended in inbox.withLock({ $0.takeEnded() }) { ended.resume() }
  }

  private func carryOut(_ group: SnapshotInbox.Group) {
    var mustSync = false
    var results = group.map { room, request in
      Result<Void, any Error> {
        let file = Self.file(of: room)
        if let snapshot = request.snapshot {
          try files.replace(file, with: Self.text(of: snapshot))
          mustSync = true
        } else if try files.remove(file) {
          mustSync = true
        }
      }
    }
    if mustSync {
      do { try files.sync() } catch {
        for index in results.indices {
          results[index] = results[index].flatMap { _ in .failure(error) }
        }
      }
    }
    for (entry, result) in zip(group, results) {
      switch result {
      case .success: problem.withLock { $0 = nil }
      case .failure(let error): note(error, of: entry.room)
      }
      let isWritten = (try? result.get()) != nil
      let (overtaken, gone) = inbox.withLock { inbox in
        inbox.end(entry.room, entry.request, isWritten: isWritten)
      }
      for notice in gone { notice() }
      for completion in entry.request.completions + overtaken { completion(isWritten) }
    }
  }

  /// Returns a snapshot as text, which the next start can read. A state within its limits is far
  /// smaller than ``maximumBytes``, unless the configured history of the chat is very long. If the
  /// text is too large, the previous snapshot and the log after it are kept.
  private static func text(of snapshot: RoomSnapshot) throws -> [UInt8] {
    try snapshot.checkBounds()
    let text = try JSONWriter.text(of: snapshot)
    guard text.count <= maximumBytes - checksumBytes else {
      throw RecordingError.tooLarge(path: file(of: snapshot.room), bytes: text.count)
    }
    Invariants.check(
      (try? RoomSnapshot(decoding: text)) != nil, "a snapshot that is written can be read")
    return text
  }

  private func note(_ error: any Error, of room: String) {
    let reason = "the state of room \(room) cannot be saved for the next start: \(error)"
    let isNew = problem.withLock { problem in
      let since = problem?.since ?? WallClock.milliseconds()
      defer { problem = PresentFailure(reason: reason, since: since) }
      return problem == nil
    }
    if isNew { onProblem(reason) }
  }

  private static func file(of room: String) -> String { room + suffix }

  private static let suffix = ".json"

  // MARK: The start

  /// The losses that were found at the start. They are reported until the next start.
  package var losses: [Problem] { lost.withLock { $0 } }

  /// Records a loss, as text for people, of one room or of all rooms.
  func noteLoss(_ text: String, of room: RoomName? = nil) {
    let problem = Problem(
      part: "state", text: text, since: WallClock.milliseconds(), room: room?.description)
    lost.withLock { $0.append(problem) }
  }

  /// Returns the rooms whose snapshots the last run left, sorted by name. Also updates
  /// ``roomsAside``.
  package func rooms() -> [String] {
    let names = (try? files.names()) ?? []
    // Foundation's temporary files that version 0.1.0 was writing when it was killed.
    for name in names where name.hasPrefix(".dat.nosync") { unlink(files.path(of: name)) }
    aside.withLock { rooms in
      rooms = names.filter { $0.hasSuffix(Self.asideSuffix) }
        .map { RoomAside(path: files.path(of: $0)) }
    }
    let suffixes = StateDirectory.Version.allCases.map { Self.suffix + $0.rawValue }
    let rooms = names.compactMap { name in
      suffixes.first { name.hasSuffix($0) }.map { String(name.dropLast($0.count)) }
    }
    return Set(rooms).sorted()
  }

  /// Syncs the directory, so that the renamings and removals of the last run survive a power
  /// failure. Returns `false` if that fails.
  func syncNames() -> Bool {
    do throws(RecordingError) {
      try files.sync()
      return true
    } catch {
      return error.isMissing
    }
  }

  /// The saved state of a room.
  package struct Saved: Sendable {
    /// The newest readable snapshot; `nil` if there is none.
    package let snapshot: RoomSnapshot?
    /// Whether there was a newer snapshot that could not be read.
    package let isOlder: Bool
    /// The size of the snapshot's file in bytes.
    package var bytes = 0
  }

  /// Returns the newest readable snapshot of a room. Unreadable snapshots are renamed, and reported
  /// to ``onProblem``.
  package func load(_ room: String) -> Saved {
    var isOlder = false
    for version in StateDirectory.Version.allCases {
      do {
        let (snapshot, bytes) = try read(room, version)
        if isOlder { onProblem("room \(room) is restored from its previous snapshot") }
        return Saved(snapshot: snapshot, isOlder: isOlder, bytes: bytes)
      } catch let error as RecordingError where error.isMissing {
        // The daemon was killed while it replaced the newest version, or only one version was ever
        // written.
      } catch {
        let path = files.path(of: Self.file(of: room), version)
        let aside = "\(Self.file(of: room))\(version.rawValue).unreadable"
        files.move(Self.file(of: room), version, to: aside)
        onProblem(
          "the snapshot \(path) cannot be used and was renamed to \(aside): "
            + Self.text(error))
        isOlder = true
      }
    }
    return Saved(snapshot: nil, isOlder: isOlder)
  }

  private func read(
    _ room: String, _ version: StateDirectory.Version
  ) throws -> (RoomSnapshot, bytes: Int) {
    let (snapshot, line) = try Self.read(files, room, Self.file(of: room), version)
    return (snapshot, line.count)
  }

  private static func read(
    _ files: StateDirectory, _ room: String, _ file: String, _ version: StateDirectory.Version
  ) throws -> (RoomSnapshot, line: [UInt8]) {
    let (line, isProven) = try files.read(file, version, limit: maximumBytes)
    let snapshot = try RoomSnapshot(decoding: line)
    guard isProven || !snapshot.mustBeProven else { throw RoomSnapshot.Unreadable.unproven }
    guard snapshot.room == room else { throw RoomSnapshot.Unreadable.name(snapshot.room) }
    return (snapshot, line)
  }

  /// Converts the state that an earlier version of the daemon left. Must be called before any of it
  /// is read.
  package func convertEarlierState(in library: RecordingLibrary) async throws(RecordingError) {
    let losses = try await library.convertEarlierState(of: files) { [files] room, file in
      try? Self.read(files, room, file, .newest).line
    }
    for loss in losses { noteLoss(loss) }
  }

  /// The maximum size of a file in bytes, several times that of the largest state. Decoding a file
  /// takes several times its size in memory.
  private static let maximumBytes = 64 << 20
  /// An upper bound for the size of the checksum at the end of a file, in bytes.
  private static let checksumBytes = 256

  // MARK: Rooms that crashed the daemon

  private static let asideReason = "set-aside"
  private static let asideSuffix = "\(suffix).\(asideReason)"

  /// A room that was set aside and is not restored any more.
  package struct RoomAside: Sendable {
    package let room: String
    /// The path of the room's state.
    package let path: String
    /// The path to which the state must be moved, so that the next start restores the room.
    package var restoredPath: String {
      String(path.dropLast(SnapshotStore.asideReason.utf8.count + 1))
    }
    /// Milliseconds since 1970.
    package let since: Int

    fileprivate init(path: String) {
      let name = path.split(separator: "/").last ?? ""
      room = String(name.dropLast(SnapshotStore.asideSuffix.utf8.count))
      self.path = path
      var status = stat()
      // The last change of the file's status was its renaming.
      since =
        lstat(path, &status) == 0
        ? status.st_ctim.tv_sec * 1_000 + status.st_ctim.tv_nsec / 1_000_000 : 0
    }
  }

  /// The rooms that this run or an earlier one has set aside. Updated by ``rooms()`` and
  /// ``setAside(_:)``.
  package var roomsAside: [RoomAside] { aside.withLock { $0 } }

  /// Returns the file that names the rooms at which the last run crashed, if it crashed while
  /// restoring rooms, and the rooms that this run is restoring.
  package func restorationNote() -> RestorationNote {
    RestorationNote(files.path(of: "restoring"))
  }

  /// Sets the room's file aside, because the daemon has crashed too often while restoring the room.
  package func setAside(_ room: String) {
    let aside = room + Self.asideSuffix
    // The newest version is renamed last, so that it replaces the previous one. One of them may be
    // missing.
    for version in StateDirectory.Version.allCases.reversed() {
      files.move(Self.file(of: room), version, to: aside)
    }
    // A room that exists only in the log has no file, so an empty file marks it.
    let path = files.path(of: aside)
    if access(path, F_OK) != 0 { try? "".write(toFile: path, atomically: false, encoding: .utf8) }
    self.aside.withLock { rooms in
      rooms.removeAll { $0.room == room }
      rooms.append(RoomAside(path: files.path(of: aside)))
    }
  }

  private static func text(_ error: any Error) -> String {
    switch error {
    case is RoomSnapshot.Unreadable, is OutOfBounds, is RecordingError, is DecodingError: "\(error)"
    default: error.localizedDescription
    }
  }
}

package import ControlInterface
package import FileSystem
import Foundation
import Glibc
import JSON
import LiveEvents
import Locking
import Recordings
import Synchronization
package import SystemSupport

/// Keeps the two newest snapshots of each room in a directory. May be used from any thread.
///
/// Encodes, writes and syncs on a thread of its own. A snapshot replaces an older one of the same
/// room that is still waiting. The one written before is kept, for the case that the disk spoils
/// the newest (see ``StateDirectory``).
package final class SnapshotStore: Sendable {
  package typealias Notice = @Sendable () -> Void

  /// Called with whether the request, or the one that replaced it, was carried out and would
  /// survive a power failure.
  package typealias Completion = @Sendable (_ isWritten: Bool) -> Void

  private let files: StateDirectory
  private let mostWaiting: Int
  private let onProblem: @Sendable (String) -> Void
  private let inbox = Guarded(SnapshotInbox())
  private let signal: WakeSignal
  private let problem = Guarded<PresentFailure?>(nil)
  private let lost = Guarded<[Problem]>([])
  private let aside = Guarded<[RoomAside]>([])

  /// Why the last write of a room failed, and since when writes have; `nil` if it succeeded.
  package var failure: PresentFailure? { problem.withLock { $0 } }

  /// Makes a store whose snapshots wait for ``start()``.
  ///
  /// - Parameters:
  ///   - mostWaiting: how many rooms may wait for the disk until what is not needed should not be
  ///     added.
  ///   - onProblem: called if a directory or a file cannot be used, and not again until one can.
  package init(
    directory: String, disk: any Disk = SystemDisk(), mostWaiting: Int = 256,
    onProblem: @escaping @Sendable (String) -> Void = { _ in }
  ) throws(SystemError) {
    files = StateDirectory(directory, disk: disk)
    self.mostWaiting = mostWaiting
    self.onProblem = onProblem
    signal = try WakeSignal()
  }

  /// Whether so many rooms wait for the disk that those should not which can do without: some
  /// seconds of work.
  package var isBusy: Bool { inbox.withLock { $0.count >= mostWaiting } }

  /// Starts the thread that writes, to be ended by ``close()``.
  package func start() throws(SystemError) {
    try ServiceThread.start(name: "snapshots") { [self] in work() }
  }

  /// Queues a snapshot for writing, unless a newer one of the room was posted before it. Takes a
  /// short lock but never blocks otherwise.
  ///
  /// - Parameter number: the number that the snapshot was given when it was taken; by default, it
  ///   was just taken.
  package func post(
    _ snapshot: RoomSnapshot, _ number: UInt64? = nil, of room: RoomLifetime,
    completion: @escaping Completion = { _ in }
  ) {
    let number = number ?? room.nextSnapshot()
    let isKept = inbox.withLock { $0.add(snapshot, number, of: room, completion) }
    if let isKept { completion(isKept) } else { signal.raise() }
  }

  /// Queues the room's file for removal, because the room is closed. Later snapshots of it are
  /// refused. A removal that fails is tried again with what is written next.
  ///
  /// - Parameter whenGone: called once the file is gone for good, or is that of a newer life of the
  ///   room; not if that does not happen before the process ends.
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

  /// Calls `body` soon on the thread that writes, not while the disk holds it; at once if the
  /// thread has ended.
  package func ping(_ body: @escaping @Sendable () -> Void) {
    if inbox.withLock({ $0.add(ping: body) }) { signal.raise() } else { body() }
  }

  /// Returns once everything posted is done. Later requests are refused.
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

  /// The text of a snapshot that the next start will read. A state within the limits of its parts
  /// is far smaller than ``maximumBytes``, unless the configured history of the chat is very long;
  /// if it is larger all the same, the snapshot before it stays, and the log, which is not cut
  /// then, leads on from there.
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

  /// What the start found missing; it stays until the next one.
  package var losses: [Problem] { lost.withLock { $0 } }

  /// Notes, for people, what is missing of a room, or of all.
  func noteLoss(_ text: String, of room: RoomName? = nil) {
    let problem = Problem(
      part: "state", text: text, since: WallClock.milliseconds(), room: room?.description)
    lost.withLock { $0.append(problem) }
  }

  /// The rooms whose snapshots the last run left, in the order of their names. Notes which have
  /// been set aside.
  package func rooms() -> [String] {
    let names = (try? files.names()) ?? []
    // Files that version 0.1.0 was writing when it was killed; the name is Foundation's.
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

  /// Makes what the last run renamed and removed survive a power failure: what is in memory only
  /// must not be relied on. Returns `false` if that fails.
  func syncNames() -> Bool {
    do throws(RecordingError) {
      try files.sync()
      return true
    } catch {
      return error.isMissing
    }
  }

  /// What is saved of a room.
  package struct Saved: Sendable {
    /// `nil` if none can be read.
    package let snapshot: RoomSnapshot?
    /// Whether a newer one was there, but could not be read.
    package let isOlder: Bool
    /// How large its file is.
    package var bytes = 0
  }

  /// The newest snapshot of a room that can be read. One that cannot is set aside and reported to
  /// ``onProblem``.
  package func load(_ room: String) -> Saved {
    var isOlder = false
    for version in StateDirectory.Version.allCases {
      do {
        let (snapshot, bytes) = try read(room, version)
        if isOlder { onProblem("room \(room) is restored from its previous snapshot") }
        return Saved(snapshot: snapshot, isOlder: isOlder, bytes: bytes)
      } catch let error as RecordingError where error.isMissing {
        // The daemon was killed while it replaced the newest version, or there has been only one.
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

  /// Converts what an earlier version left, before anything of it is read.
  func convertEarlierState(in library: RecordingLibrary) async throws(RecordingError) {
    let losses = try await library.convertEarlierState(of: files) { [files] room, file in
      try? Self.read(files, room, file, .newest).line
    }
    for loss in losses { noteLoss(loss) }
  }

  /// The largest file that is read: several times what a room may take. To decode one takes some
  /// times as much memory.
  private static let maximumBytes = 64 << 20
  /// More than the checksum takes with which a file ends.
  private static let checksumBytes = 256

  // MARK: Rooms at which the daemon died

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

    fileprivate init(path: String) {
      let name = path.split(separator: "/").last ?? ""
      room = String(name.dropLast(SnapshotStore.asideSuffix.utf8.count))
      self.path = path
      var status = stat()
      // The change is that of the name.
      since =
        lstat(path, &status) == 0
        ? status.st_ctim.tv_sec * 1_000 + status.st_ctim.tv_nsec / 1_000_000 : 0
    }
  }

  /// The rooms that this run or an earlier one has set aside, by ``rooms()`` and ``setAside(_:)``.
  package var roomsAside: [RoomAside] { aside.withLock { $0 } }

  /// Says at which rooms the last run died, if it did while it restored them, and at which this one
  /// is.
  package func restorationNote() -> RestorationNote {
    RestorationNote(files.path(of: "restoring"))
  }

  /// Sets the room's file aside, since the daemon has died too often while it restored the room.
  package func setAside(_ room: String) {
    let aside = room + Self.asideSuffix
    // The newest replaces the one before it; there may be only one of them.
    for version in StateDirectory.Version.allCases.reversed() {
      files.move(Self.file(of: room), version, to: aside)
    }
    // A room of which there is only the log.
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

import Composable
import Foundation
import FuzzSupport
import HostScreen
import LiveEvents
import RateLimiting
import Rooms
import ViewGraph

/// Restores snapshots of rooms as the daemon does at its start.
final class SnapshotParser: Parser {
  private struct SameThread: Lane {
    func execute(_ job: @escaping @Sendable () -> Void) { job() }
    var taskExecutor: (any TaskExecutor)? { nil }
  }

  private final class StillClock: EvaluationClock {
    let now: UInt64 = 0
  }

  private let file: URL
  private let store: SnapshotStore
  private let encoder = JSONEncoder()

  init() throws {
    let directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("livehost-fuzz-\(getpid())")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    file = directory.appendingPathComponent("fuzz.json")
    store = try SnapshotStore(directory: directory.path)
    encoder.outputFormatting = .sortedKeys
  }

  func read(_ bytes: UnsafeBufferPointer<UInt8>) {
    check("the snapshot can be written", (try? Data(buffer: bytes).write(to: file)) != nil)
    guard let snapshot = store.load("fuzz").snapshot else { return }
    let text = write(snapshot)
    guard let again = try? JSONDecoder().decode(RoomSnapshot.self, from: text) else {
      fatalError("a written snapshot can be read")
    }
    // The order of a set's elements varies, so the bytes may differ.
    check(
      "a snapshot equals itself after writing and reading",
      again.screen.state == snapshot.screen.state && write(again).count == text.count)
    restore(snapshot)
  }

  private func write(_ snapshot: RoomSnapshot) -> Data {
    guard let text = try? encoder.encode(snapshot) else { fatalError("a snapshot can be encoded") }
    return text
  }

  private func restore(_ snapshot: RoomSnapshot) {
    let screen = HostScreen(
      lane: SameThread(), framesPerSecond: 60, clock: StillClock(), start: snapshot.instant,
      restoring: snapshot.screen)
    var now = snapshot.instant
    for count in 1...3 {
      screen.receive(
        LiveEvent(timestamp: Timestamp(count), payload: .header(.viewers(count: count))), at: now)
      screen.reduce()
      guard let next = screen.nextFrame else { return }
      check("the next frame is after the current time", next > now)
      now = next
      screen.drawFrame(at: now, adapting: false)
    }
    _ = write(
      RoomSnapshot(
        room: snapshot.room, savedAt: snapshot.savedAt, instant: snapshot.instant,
        screen: screen.snapshot, sequence: snapshot.sequence))
  }
}

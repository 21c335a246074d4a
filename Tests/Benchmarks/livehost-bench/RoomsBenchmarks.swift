import BenchmarkKit
import Foundation
import Synchronization

/// Measures many rooms in one separate daemon process: busy rooms, idle rooms, many rooms that open
/// together, and a restart with all rooms. The sender runs on the same machine.
func roomsBenchmarks(_ harness: Harness) throws {
  try measureBusyRooms(harness)
  if harness.isWanted("rooms.idle") { try measureIdleRooms(harness) }
  if harness.isWanted("rooms.open") || harness.isWanted("rooms.restart") {
    try measureRestart(harness)
  }
}

private func withDaemon(
  _ name: String, rooms: Int, settings: String = "", _ body: (DaemonProcess) throws -> Void
) throws {
  FileHandle.standardError.write(Data("measuring \(name)\n".utf8))
  let directory = NSTemporaryDirectory() + "livehost-bench-\(getpid())-rooms"
  defer { try? FileManager.default.removeItem(atPath: directory) }
  let daemon = try DaemonProcess(in: directory, rooms: rooms, settings: settings)
  defer { daemon.stop() }
  try body(daemon)
}

/// Returns a number from the environment, for shorter or smaller runs than the default.
private func setting(_ name: String, _ usual: Int) -> Int {
  ProcessInfo.processInfo.environment[name].flatMap(Int.init) ?? usual
}

// MARK: Busy rooms

/// The number of messages per second in each busy room.
private let rate = 10
/// The number of portions in which the sender writes one message to each room.
private let partsPerRound = 10

private func measureBusyRooms(_ harness: Harness) throws {
  let rooms = setting("BENCH_ROOMS", 5_000)
  let seconds = setting("BENCH_SECONDS", 60)
  for views in ["always", "watched"] where harness.isWanted("rooms.busy.\(views)") {
    try measureBusyRooms(harness, rooms: rooms, seconds: seconds, views: views)
  }
}

private func measureBusyRooms(
  _ harness: Harness, rooms: Int, seconds: Int, views: String
) throws {
  let name = "rooms.busy.\(views)"
  try withDaemon(name, rooms: rooms, settings: "views: \(views)") { daemon in
    var lines = RoomLines(rooms: rooms)
    let socket = try BenchmarkSocket(path: daemon.ingestSocket)
    try socket.send(lines.next(0..<rooms))
    try socket.sync()
    let watchers = Watchers(daemon, rooms: rooms)
    let before = daemon.processorTime
    let start = Harness.now()
    let part = UInt64(1_000_000_000 / (rate * partsPerRound))
    var latest: UInt64 = 0
    for index in 0..<seconds * rate * partsPerRound {
      let due = start + UInt64(index) * part
      Harness.wait(until: due)
      let first = index % partsPerRound * rooms / partsPerRound
      let end = (index % partsPerRound + 1) * rooms / partsPerRound
      try socket.send(lines.next(first..<end))
      latest = max(latest, Harness.now() - due)
    }
    try socket.sync()
    let late = Double(Harness.now() - start) - Double(seconds) * 1e9
    let taken = daemon.processorTime - before
    let times = watchers.end().sorted()
    let events = Double(rooms * rate * seconds)
    harness.report(
      "\(name).p99", times.isEmpty ? 0 : Double(times[times.count * 99 / 100]) / 1e6, "ms",
      bar: "< 100 ms: message to acknowledgement, with its frame and the disk's sync")
    harness.report(
      "\(name).p50", times.isEmpty ? 0 : Double(times[times.count / 2]) / 1e6, "ms")
    harness.report(
      "\(name).late", late / 1e6, "ms",
      bar: "flat: until all of \(seconds) s is applied and on disk")
    harness.report(
      "\(name).sender", Double(latest) / 1e6, "ms", bar: "the longest wait of the sender")
    harness.report(
      "\(name).event", taken / events / 1e3, "us", bar: "processor time of the daemon")
    harness.report(
      "\(name).cores", taken / (Double(seconds) * 1e9), "cores",
      bar: "\(rooms) rooms x \(rate)/s keep up")
  }
}

/// Clients that measure the time to an acknowledgement. Together they send 50 messages a second, to
/// one room after another. Times count from the intended sending, so a message that waits for the
/// previous message counts as late. Each client waits 200 ms between messages, so this happens only
/// if an acknowledgement takes longer.
private final class Watchers: @unchecked Sendable {
  private static let count = 10
  private static let period: UInt64 = 200_000_000

  private let isEnding = Atomic<Bool>(false)
  private let ended = DispatchGroup()
  private let times = Mutex<[UInt64]>([])

  init(_ daemon: DaemonProcess, rooms: Int) {
    let start = Harness.now()
    for index in 0..<Self.count {
      ended.enter()
      Thread.detachNewThread { [self, path = daemon.ingestSocket] in
        defer { ended.leave() }
        guard let socket = try? BenchmarkSocket(path: path) else { return }
        var times: [UInt64] = []
        var due = start + UInt64(index) * Self.period / UInt64(Self.count)
        var number = index
        while !isEnding.load(ordering: .relaxed) {
          Harness.wait(until: due)
          let room = "room-\(100_000 + number &* 7919 % rooms)"
          let line = RoomLines.line(room: room, number: 900_000_000 + number)
          guard (try? socket.send(Array(line.utf8))) != nil, (try? socket.sync()) != nil else {
            break
          }
          times.append(Harness.now() - due)
          due += Self.period
          number += Self.count
        }
        self.times.withLock { $0 += times }
      }
    }
  }

  func end() -> [UInt64] {
    isEnding.store(true, ordering: .relaxed)
    ended.wait()
    return times.withLock { $0 }
  }
}

// MARK: Idle rooms

private func measureIdleRooms(_ harness: Harness) throws {
  let rooms = setting("BENCH_ROOMS", 50_000)
  let quiet = UInt64(setting("BENCH_SECONDS", 20)) * 1_000_000_000
  try withDaemon("rooms.idle", rooms: rooms, settings: "packAfter: 5s") { daemon in
    // The memory is measured before the first room opens, so shared memory counts as memory of the
    // rooms.
    let memory = daemon.residentBytes
    try open(rooms, of: rooms, in: daemon)
    // Waits until all delayed work ends and the rooms hibernate.
    let limit = Harness.now() + 600_000_000_000
    var taken: Double
    repeat {
      taken = daemon.processorTime
      Harness.wait(until: Harness.now() + 10_000_000_000)
    } while daemon.processorTime - taken > 100_000_000 && Harness.now() < limit
    taken = daemon.processorTime
    Harness.wait(until: Harness.now() + quiet)
    harness.report(
      "rooms.idle.cpu", (daemon.processorTime - taken) / Double(quiet) * 100, "% of a core",
      bar: "none")
    harness.report(
      "rooms.idle.memory",
      Double(daemon.residentBytes - memory) / Double(rooms) / 1_024, "KiB/room", bar: "<= 4 KiB")
  }
}

/// Opens rooms by sending a message to each room. Returns the time in nanoseconds.
@discardableResult
private func open(_ count: Int, of rooms: Int, in daemon: DaemonProcess) throws -> UInt64 {
  var lines = RoomLines(rooms: rooms)
  let socket = try BenchmarkSocket(path: daemon.ingestSocket)
  let start = Harness.now()
  try socket.send(lines.next(0..<count))
  try socket.sync()
  return Harness.now() - start
}

// MARK: Restart

private func measureRestart(_ harness: Harness) throws {
  let rooms = setting("BENCH_ROOMS", 10_000)
  try withDaemon("rooms.open", rooms: rooms) { daemon in
    let opened = try open(rooms, of: rooms, in: daemon)
    let stopping = Harness.now()
    daemon.stop()
    let starting = Harness.now()
    let next = try DaemonProcess(in: daemon.directory, rooms: rooms)
    let started = Harness.now()
    next.stop()
    harness.report("rooms.open", Double(opened) / 1e9, "s", bar: "< 2 s: \(rooms) rooms")
    harness.report(
      "rooms.restart.stop", Double(starting - stopping) / 1e9, "s", bar: "< 5 s: \(rooms) rooms")
    harness.report(
      "rooms.restart.start", Double(started - starting) / 1e9, "s", bar: "< 5 s: \(rooms) rooms")
  }
}

import Glibc
import SimulatedDisk
import TestSupport

/// Everything that happens to the daemon in one simulation. The plan depends only on the seed.
struct Plan {
  /// An action of a client, of the disk, or of the operator.
  struct Operation {
    /// The operation's number, unique in the plan, by which it can be omitted.
    let number: Int
    /// The time in nanoseconds since the start of the life.
    let at: UInt64
    let kind: Kind
  }

  enum Kind {
    case send(client: Int, room: Int, lines: Int, syncs: Bool)
    case leave(client: Int, abruptly: Bool)
    /// The client stops reading answers for this time.
    case stall(client: Int, nanoseconds: UInt64)
    case act(room: Int)
    /// Opens a room. `isRecorded` requests a recording from the opening.
    case open(room: Int, isRecorded: Bool)
    /// Closes a room. `reopens` opens the room again immediately.
    case close(room: Int, reopens: Bool)
    case record(room: Int)
    case stop(room: Int)
    case pause(room: Int)
    case resume(room: Int)
    /// Replays the newest recording of a room into a room with a higher number, at a multiple of
    /// the original speed.
    case replay(room: Int, into: Int, speed: Double?)
    case watch(monitor: Int, room: Int, rate: Double?)
    case stallMonitor(monitor: Int, nanoseconds: UInt64)
    case reload
    case clock(milliseconds: Int)
    /// Makes calls to the disk fail, starting after the next `after` calls: one call, or all calls
    /// until the time has passed and the first call after it.
    case fault(DiskFault, on: Calls, after: Int, nanoseconds: UInt64)
    case check

    static let names = [
      "send", "leave", "stall", "act", "open", "close", "record", "stop", "pause", "resume",
      "replay", "watch",
      "stallMonitor", "patch", "reload", "clock", "fault", "check",
    ]

    var name: String { "\(self)".prefix { $0 != "(" }.description }
  }

  /// The calls to the disk that a fault affects.
  enum Calls: CaseIterable { case all, writes, reads, syncs, directorySyncs, renames, opens }

  /// The way in which a life ends.
  enum End: String, CaseIterable {
    case kill, powerLoss, stop

    /// The fault at the last call to the disk, or nil for an orderly stop.
    var crash: DiskFault? {
      switch self {
      case .kill: .processEnd
      case .powerLoss: .powerLoss
      case .stop: nil
      }
    }
  }

  /// The position of damage on the disk.
  enum Rot {
    case newestSnapshot(room: Int)
    /// The last lines of a segment of the log, which are lost although other segments follow.
    case endOfLog
  }

  /// One run of the daemon.
  struct Life {
    var operations: [Operation]
    let nanoseconds: UInt64
    let end: End
    /// The kind of call at which the crash happens, or nil for any time. A crash before a sync
    /// tests whether recovery trusts data that was not synced.
    let crashCalls: Calls?
    /// Whether all clients must get their answers before the life ends. The disk works then.
    let settles: Bool
    /// The number of bits that flip on the disk before the life starts.
    let rottenBits: Int
    /// The position of the flipped bits, or nil for any position.
    var rot: Rot?
    /// The process dies or the power fails before this call to the disk during the start.
    var crashOfStart: (call: Int, fault: DiskFault)?
  }

  /// Faults of the disk that are worse than a failed call.
  struct Misfortunes: OptionSet {
    let rawValue: Int
    /// The disk reports syncs that it did not perform.
    static let lies = Self(rawValue: 1)
    /// The disk flips bits of synced data.
    static let rot = Self(rawValue: 2)
    /// A call does not return until the life ends or all clients must get their answers.
    static let hangs = Self(rawValue: 4)
    /// In such a simulation no call fails, because a failed write would excuse a loss.
    static let alone = Self(rawValue: 8)
  }

  let seed: UInt64
  let lanes: Int
  private(set) var rooms: Int
  let clients: Int
  let segmentBytes: Int
  let pageBytes: Int
  let costOfReading: UInt64
  /// The number of bytes from clients that the daemon may hold before it makes clients wait.
  let ingestBytes: Int
  /// The severe faults in this simulation. Only some simulations have any, because a worse disk
  /// excuses more losses.
  let misfortunes: Misfortunes
  var lives: [Life]

  init(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    self.seed = seed
    lanes = random.pick(1..<3)
    rooms = random.pick(1..<4)
    clients = random.pick(1..<5)
    segmentBytes = [2_000, 20_000, 1 << 20][random.pick(0..<3)]
    pageBytes = [256, 512, 4096][random.pick(0..<3)]
    costOfReading = [0, 1_000, 300_000][random.pick(0..<3)]
    ingestBytes = [4 << 20, 64 << 10, 8 << 10][random.pick(0..<3)]
    misfortunes =
      switch random.pick(0..<10) {
      case 0...1: .lies
      case 2: .rot
      case 3: [.rot, .alone]
      case 4: .hangs
      default: []
      }
    lives = []
    var count = 0
    for _ in 0..<random.pick(1..<5) {
      let nanoseconds = UInt64(random.pick(50..<4_000)) * 1_000_000
      let operations = (0..<random.pick(5..<60)).map { _ in
        count += 1
        return Operation(
          number: count, at: UInt64.random(in: 0..<nanoseconds, using: &random),
          kind: Kind(rooms: rooms, clients: clients, misfortunes, &random))
      }.sorted { ($0.at, $0.number) < ($1.at, $1.number) }
      var life = Life(
        operations: operations, nanoseconds: nanoseconds,
        end: End.allCases[random.pick(0..<3)],
        crashCalls: [nil, .syncs, .syncs, .directorySyncs][random.pick(0..<4)],
        settles: random.oneIn(3),
        rottenBits: misfortunes.contains(.rot) ? random.pick(0..<4) : 0)
      if random.oneIn(4) {
        // The first start makes few calls. A start with much data to recover makes many.
        let calls = [8, 40, 200][random.pick(0..<3)]
        life.crashOfStart = (random.pick(1..<calls), random.oneIn(2) ? .powerLoss : .processEnd)
      }
      lives.append(life)
    }
    if misfortunes.contains(.alone) { rotBehindRecordings(&count) }
  }

  /// Appends a life that ends after a recording, and a life that finds the later snapshot damaged.
  /// Also appends more such pairs of lives for rooms with two recordings.
  private mutating func rotBehindRecordings(_ count: inout Int) {
    // A separate generator keeps the rest of the plan unchanged.
    var random = SplitMix64(seed: ~seed)
    let room = random.pick(0..<rooms)
    let send = Kind.send(client: 0, room: room, lines: 10, syncs: true)
    // The link from a recording back to the log is needed only if the room was saved exactly once
    // since the recording. The room is saved when the recording ends and when the recording is
    // closed, unless the disk is still busy with earlier writes.
    rot(
      room,
      behind: [
        (0, .open(room: room, isRecorded: false)), (100, send),
        (200, .fault(.slow(500_000_000), on: .syncs, after: random.pick(1..<4), nanoseconds: 0)),
        (200, .record(room: room)), (300, send), (500, .stop(room: room)), (1_000, send),
      ], until: random.pick(900..<2_000), random.oneIn(2) ? .kill : .powerLoss, &count)
    // A room with two recordings. The first was paused when it was closed.
    rot(
      room,
      behind: [
        (0, .stop(room: room)), (200, .open(room: room, isRecorded: false)),
        (300, .clock(milliseconds: 100_000)),
        (400, .record(room: room)), (500, send), (700, .pause(room: room)),
        (900, .close(room: room, reopens: true)), (1_100, .clock(milliseconds: -100_000)),
        (1_200, send),
        (1_400, .record(room: room)), (1_600, send),
      ], until: random.pick(1_700..<2_500), random.oneIn(2) ? .kill : .powerLoss, &count)
    let closing = random.oneIn(2) ? DiskFault.processEnd : .powerLoss
    // The daemon ends when the closing of the room is on disk, but often before the end of the
    // room's recording is on disk. The interrupted recording is the later recording by the clock.
    append(
      [
        (0, .stop(room: room)), (200, .open(room: room, isRecorded: false)),
        (300, .clock(milliseconds: 100_000)),
        (400, .record(room: room)), (500, send),
        (900, .close(room: room, reopens: false)),
        (900, .fault(closing, on: .all, after: random.pick(2..<10), nanoseconds: 0)),
      ], until: 1_000, .kill, &count)
    rot(
      room,
      behind: [
        (0, .clock(milliseconds: -100_000)), (100, .open(room: room, isRecorded: false)),
        (200, send), (400, .record(room: room)), (600, send),
      ], until: random.pick(700..<1_500), random.oneIn(2) ? .kill : .powerLoss, &count)
    // Each segment of the log has one batch, and no snapshot is completed. The room was never
    // recorded, because a damaged recording would excuse gaps.
    let last = rooms
    rooms += 1
    rot(
      last,
      behind: [
        (0, .open(room: last, isRecorded: false)),
        (200, .fault(.slow(2_000_000_000), on: .renames, after: 0, nanoseconds: 0)),
      ]
        + (3..<9).map {
          ($0 * 100, .send(client: 0, room: last, lines: random.pick(5..<20), syncs: true))
        },
      until: 950, .kill, then: .endOfLog, &count)
  }

  /// Appends a life of a room, and a life that finds the last saved state damaged: by default, the
  /// newest snapshot.
  private mutating func rot(
    _ room: Int, behind operations: [(milliseconds: UInt64, kind: Kind)], until milliseconds: Int,
    _ end: End, then rot: Rot? = nil, _ count: inout Int
  ) {
    append(operations, until: milliseconds, end, &count)
    lives.append(
      Life(
        operations: [], nanoseconds: 1_000_000_000, end: .kill, crashCalls: nil, settles: false,
        rottenBits: 1, rot: rot ?? .newestSnapshot(room: room)))
  }

  /// Appends a life.
  private mutating func append(
    _ operations: [(milliseconds: UInt64, kind: Kind)], until milliseconds: Int, _ end: End,
    _ count: inout Int
  ) {
    let known = count
    count += operations.count
    lives.append(
      Life(
        operations: operations.enumerated().map {
          Operation(number: known + 1 + $0, at: $1.milliseconds * 1_000_000, kind: $1.kind)
        }, nanoseconds: UInt64(milliseconds) * 1_000_000, end: end, crashCalls: nil, settles: false,
        rottenBits: 0))
  }

  /// The numbers of all operations.
  var numbers: Set<Int> { Set(lives.flatMap { $0.operations.map(\.number) }) }

  /// Returns a copy of the plan without these operations.
  func without(_ numbers: Set<Int>) -> Plan {
    var plan = self
    for index in lives.indices {
      plan.lives[index].operations.removeAll { numbers.contains($0.number) }
    }
    return plan
  }
}

extension Plan.Kind {
  fileprivate init(
    rooms: Int, clients: Int, _ misfortunes: Plan.Misfortunes, _ random: inout SplitMix64
  ) {
    let room = random.pick(0..<rooms)
    let client = random.pick(0..<clients)
    switch random.pick(0..<44) {
    case 0: self = .leave(client: client, abruptly: random.oneIn(2))
    case 1: self = .stall(client: client, nanoseconds: UInt64(random.pick(1..<2_000)) * 1_000_000)
    case 2...4: self = .act(room: room)
    case 5: self = .open(room: room, isRecorded: random.oneIn(2))
    case 6: self = .close(room: room, reopens: random.oneIn(2))
    case 7...8: self = .record(room: room)
    case 9: self = .stop(room: room)
    case 10: self = .reload
    case 11: self = .clock(milliseconds: random.pick(-100_000..<100_000))
    case 12...13:
      let fault = Self.fault(misfortunes, &random)
      var nanoseconds: UInt64 = 0
      if case .error = fault, random.oneIn(2) {
        nanoseconds = UInt64(random.pick(1..<4_000)) * 1_000_000
      }
      let calls = fault == .lie ? [.syncs, .syncs, .directorySyncs] : Plan.Calls.allCases
      self = .fault(
        fault, on: calls[random.pick(0..<calls.count)], after: random.pick(0..<10),
        nanoseconds: nanoseconds)
    case 14: self = .check
    case 15:
      let rate = [nil, 2.0, 20.0][random.pick(0..<3)]
      self = .watch(monitor: random.pick(0..<2), room: room, rate: rate)
    case 16:
      self = .stallMonitor(
        monitor: random.pick(0..<2), nanoseconds: UInt64(random.pick(1..<2_000)) * 1_000_000)
    case 17: self = .pause(room: room)
    case 18: self = .resume(room: room)
    case 19...20 where room + 1 < rooms:
      self = .replay(
        room: room, into: random.pick(room + 1..<rooms),
        speed: [nil, 1.0, 100.0][random.pick(0..<3)])
    default:
      self = .send(
        client: client, room: room, lines: random.pick(1..<30), syncs: random.oneIn(3))
    }
  }

  private static func fault(
    _ misfortunes: Plan.Misfortunes, _ random: inout SplitMix64
  ) -> DiskFault {
    if !misfortunes.isEmpty, random.oneIn(misfortunes.contains(.lies) ? 2 : 3) {
      if misfortunes.contains(.lies) { return .lie }
      if misfortunes.contains(.hangs) { return .never }
    }
    return switch random.pick(misfortunes.contains(.alone) ? 4..<11 : 0..<11) {
    case 0: .error(EIO)
    case 1: .error(ENOSPC)
    case 2: .error(EDQUOT)
    case 3: .error(EMFILE)
    case 4...6: .short
    case 7: .slow(UInt64(random.pick(1..<60_000)) * 1_000_000)
    case 8...9: .powerLoss
    default: .processEnd
    }
  }
}

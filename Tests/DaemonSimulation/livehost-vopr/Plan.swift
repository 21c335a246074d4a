import Glibc
import SimulatedDisk
import TestSupport

/// What happens to a daemon in one simulation: all of it comes from the seed.
struct Plan {
  /// Something that a client, a disk or a person does.
  struct Operation {
    /// Unique in the plan, so that it can be left out.
    let number: Int
    /// Nanoseconds after the start of the life.
    let at: UInt64
    let kind: Kind
  }

  enum Kind {
    case send(client: Int, room: Int, lines: Int, syncs: Bool)
    case leave(client: Int, abruptly: Bool)
    /// The client reads no answers for some time.
    case stall(client: Int, nanoseconds: UInt64)
    case act(room: Int)
    /// Whether it is recorded from the first moment.
    case open(room: Int, isRecorded: Bool)
    /// Whether it is opened again at once.
    case close(room: Int, reopens: Bool)
    case record(room: Int)
    case stop(room: Int)
    case pause(room: Int)
    case resume(room: Int)
    /// Plays the newest recording of a room into a later one, at that multiple of its speed.
    case replay(room: Int, into: Int, speed: Double?)
    case watch(monitor: Int, room: Int, rate: Double?)
    case stallMonitor(monitor: Int, nanoseconds: UInt64)
    case reload
    case clock(milliseconds: Int)
    /// One of the next calls fails, or all until that time has passed, and one more.
    case fault(DiskFault, on: Calls, after: Int, nanoseconds: UInt64)
    case check

    static let names = [
      "send", "leave", "stall", "act", "open", "close", "record", "stop", "pause", "resume",
      "replay", "watch",
      "stallMonitor", "patch", "reload", "clock", "fault", "check",
    ]

    var name: String { "\(self)".prefix { $0 != "(" }.description }
  }

  /// Which calls on the disk.
  enum Calls: CaseIterable { case all, writes, reads, syncs, directorySyncs, renames, opens }

  /// How a life ends.
  enum End: String, CaseIterable {
    case kill, powerLoss, stop

    /// What befalls the call at which it happens; `nil` if that is not the end of the process.
    var crash: DiskFault? {
      switch self {
      case .kill: .processEnd
      case .powerLoss: .powerLoss
      case .stop: nil
      }
    }
  }

  /// What has changed on the disk.
  enum Rot {
    case newestSnapshot(room: Int)
    /// The last lines of a segment of the log, which are gone, while others follow.
    case endOfLog
  }

  /// One run of the daemon.
  struct Life {
    var operations: [Operation]
    let nanoseconds: UInt64
    let end: End
    /// Calls for the next of which a crash waits: before a sync, a recovery may take for safe what is not. `nil` if
    /// it comes at any time.
    let crashCalls: Calls?
    /// Whether everybody is answered before it ends, as they must be once the disk works.
    let settles: Bool
    /// How many bits of what is on the disk have changed before it begins.
    let rottenBits: Int
    /// Where they are, if not anywhere.
    var rot: Rot?
    /// The call of its start before which the process or the power ends.
    var crashOfStart: (call: Int, fault: DiskFault)?
  }

  /// How the disk may do worse than fail.
  struct Misfortunes: OptionSet {
    let rawValue: Int
    /// It reports syncs that did not happen.
    static let lies = Self(rawValue: 1)
    /// It changes bits of what is safely there.
    static let rot = Self(rawValue: 2)
    /// A call does not return before the end, or before everything is to settle.
    static let hangs = Self(rawValue: 4)
    /// Apart from that, no call fails: what could not be written would excuse what is lost.
    static let alone = Self(rawValue: 8)
  }

  let seed: UInt64
  let lanes: Int
  private(set) var rooms: Int
  let clients: Int
  let segmentBytes: Int
  let pageBytes: Int
  let costOfReading: UInt64
  /// How much the daemon may hold of what clients send before it makes them wait.
  let ingestBytes: Int
  /// How many of the things that only some simulations have are in this one: the worse the disk, the less it proves of
  /// what was acknowledged.
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
        // The first start has few calls, one that finds much to read has many.
        let calls = [8, 40, 200][random.pick(0..<3)]
        life.crashOfStart = (random.pick(1..<calls), random.oneIn(2) ? .powerLoss : .processEnd)
      }
      lives.append(life)
    }
    if misfortunes.contains(.alone) { rotBehindRecordings(&count) }
  }

  /// Ends with a life that ends behind a recording, and with one that finds spoiled what was saved of the room since;
  /// then with more of that kind, for rooms with two recordings.
  private mutating func rotBehindRecordings(_ count: inout Int) {
    // Random numbers of their own, so that everything else stays as it is.
    var random = SplitMix64(seed: ~seed)
    let room = random.pick(0..<rooms)
    let send = Kind.send(client: 0, room: room, lines: 10, syncs: true)
    // What leads from a recording back to the log is needed only if the room was saved once since then, and it is saved
    // when the recording ends and when it is closed: unless the disk is still busy with the time before.
    rot(
      room,
      behind: [
        (0, .open(room: room, isRecorded: false)), (100, send),
        (200, .fault(.slow(500_000_000), on: .syncs, after: random.pick(1..<4), nanoseconds: 0)),
        (200, .record(room: room)), (300, send), (500, .stop(room: room)), (1_000, send),
      ], until: random.pick(900..<2_000), random.oneIn(2) ? .kill : .powerLoss, &count)
    // A room with two recordings, of which the first was paused when it was closed.
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
    // The daemon ends once the closing of the room is on disk, but often not the end of its recording, which stays
    // interrupted and is the later one by the clock.
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
    // Segments of the log with a batch each, while no snapshot comes to its end: of a room that was never recorded, since
    // a recording that is damaged excuses gaps.
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

  /// Adds a life of a room, and one that finds spoiled what was kept of it last: by itself its newest snapshot.
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

  /// Adds a life.
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

  /// Without these operations.
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

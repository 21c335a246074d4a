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
    case open(room: Int)
    case close(room: Int)
    case record(room: Int)
    case stop(room: Int)
    case reload
    case clock(milliseconds: Int)
    /// One of the next calls fails.
    case fault(DiskFault, on: Calls, after: Int)
    case check
  }

  /// Which calls on the disk.
  enum Calls: CaseIterable { case all, writes, syncs, directorySyncs, renames }

  /// How a life ends.
  enum End: String, CaseIterable { case kill, powerLoss, stop }

  /// One run of the daemon.
  struct Life {
    var operations: [Operation]
    let nanoseconds: UInt64
    let end: End
    /// The call of its start before which the process or the power ends.
    var crashOfStart: (call: Int, fault: DiskFault)?
  }

  let seed: UInt64
  let lanes: Int
  let rooms: Int
  let clients: Int
  let segmentBytes: Int
  let pageBytes: Int
  let costOfReading: UInt64
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
    lives = []
    var count = 0
    for _ in 0..<random.pick(1..<5) {
      let nanoseconds = UInt64(random.pick(50..<4_000)) * 1_000_000
      let operations = (0..<random.pick(5..<60)).map { _ in
        count += 1
        return Operation(
          number: count, at: UInt64.random(in: 0..<nanoseconds, using: &random),
          kind: Kind(rooms: rooms, clients: clients, &random))
      }.sorted { ($0.at, $0.number) < ($1.at, $1.number) }
      var life = Life(
        operations: operations, nanoseconds: nanoseconds,
        end: End.allCases[random.pick(0..<3)])
      if random.oneIn(4) {
        life.crashOfStart = (random.pick(1..<40), random.oneIn(2) ? .powerLoss : .processEnd)
      }
      lives.append(life)
    }
  }

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
  fileprivate init(rooms: Int, clients: Int, _ random: inout SplitMix64) {
    let room = random.pick(0..<rooms)
    let client = random.pick(0..<clients)
    switch random.pick(0..<40) {
    case 0: self = .leave(client: client, abruptly: random.oneIn(2))
    case 1: self = .stall(client: client, nanoseconds: UInt64(random.pick(1..<2_000)) * 1_000_000)
    case 2...4: self = .act(room: room)
    case 5: self = .open(room: room)
    case 6: self = .close(room: room)
    case 7...8: self = .record(room: room)
    case 9: self = .stop(room: room)
    case 10: self = .reload
    case 11: self = .clock(milliseconds: random.pick(-100_000..<100_000))
    case 12...13:
      self = .fault(
        Self.fault(&random), on: Plan.Calls.allCases[random.pick(0..<5)],
        after: random.pick(0..<10))
    case 14: self = .check
    default:
      self = .send(
        client: client, room: room, lines: random.pick(1..<30), syncs: random.oneIn(3))
    }
  }

  private static func fault(_ random: inout SplitMix64) -> DiskFault {
    switch random.pick(0..<10) {
    case 0: .error(EIO)
    case 1: .error(ENOSPC)
    case 2: .error(EDQUOT)
    case 3...5: .short
    case 6: .slow(UInt64(random.pick(1..<60_000)) * 1_000_000)
    case 7...8: .powerLoss
    default: .processEnd
    }
  }
}

import Composable
import HangSimulation
import Synchronization
import Testing
import ViewGraph

/// A collection that counts how often its count is read.
struct CountedRows: RandomAccessCollection, Equatable, Sendable {
  final class Reads: Sendable { let count = Atomic(0) }

  let reads = Reads()
  private var rows: [Int] = []

  var startIndex: Int { 0 }
  var endIndex: Int { rows.count }
  var count: Int {
    reads.count.add(1, ordering: .relaxed)
    return rows.count
  }
  subscript(position: Int) -> Int { rows[position] }

  mutating func append(_ row: Int) { rows.append(row) }
  static func == (left: Self, right: Self) -> Bool { left.rows == right.rows }
}

@Reducer
struct Counted {
  @ObservableState
  struct State: Equatable, Sendable {
    var rows = CountedRows()
    var last: Int = 0
  }

  enum Action: Sendable { case added(Int) }

  func reduce(into state: inout State, action: Action) -> Effect<Action> {
    guard case .added(let row) = action else { return .none }
    state.rows.append(row)
    state.last = row
    return .none
  }
}

struct CountedView: View {
  static let name = "CountedView"
  func body(_ state: Observed<Counted.State>, _ context: ViewContext) -> ViewNode {
    .text("\(state.last)")
  }
}

/// How often a run reads the sizes of the state, which dominates the cost of finding growth and
/// copies.
@Suite(.timeLimit(.minutes(5))) struct LookTests {
  private final class Runs: Sendable { let reads = Mutex<[CountedRows.Reads]>([]) }

  /// Returns the number of size readings in a run with this many turns, each with an action.
  private func looks(turns: Int) async throws -> Int {
    // Only the first run counts, because a run may be repeated on a busy machine.
    let runs = Runs()
    let screen = SimulatedScreen<Counted.Action>(
      CountedView(),
      state: {
        let state = Counted.State()
        runs.reads.withLock { $0.append(state.rows.reads) }
        return state
      },
      reducer: { (_: SimulatedWorld) in Counted() }, on: { (action: Counted.Action) in [action] })
    _ = try await screen.simulate(
      [.every(.milliseconds(20)) { .added($0.integer(in: 0...9)) }],
      on: [
        Device(
          "phone",
          costs: DeviceProfile.Costs(
            action: .microseconds(10), view: .cost(.microseconds(100))))
      ],
      for: .milliseconds(20 * turns))
    let first = runs.reads.withLock { $0.first }
    let reads = try #require(first)
    return reads.count.load(ordering: .relaxed)
  }

  @Test
  func `all measurements after an action share one reading of the state's sizes`()
    async throws
  {
    let looks = try await looks(turns: 200)
    #expect((150...210 + 61).contains(looks), "\(looks)")
  }

  @Test func `the share of actions after which sizes are read falls as a run gets longer`()
    async throws
  {
    let (short, long) = (try await looks(turns: 8_000), try await looks(turns: 16_000))
    #expect(long - short < 8_000 / 3, "\(short), \(long)")
  }
}

import HeaderFeature
import LiveEvents
import TestSupport
import Testing

/// Compares the header with a model that keeps what each source reported and derives the shown
/// figures from scratch.
@Suite struct SourceModelTests {
  private struct Source {
    var viewers: Int?
    var title: (text: String, report: Int)?
    var phase: (state: StreamState, report: Int)?
    var wentLive: Int?
    var connection: SourceHealth.Connection?
    /// The ticks of the last event, and since which the source has been stale.
    var heard = 0
    var staleSince: Int?

    func isGone(at tick: Int) -> Bool { staleSince.map { tick - $0 >= 30 } ?? false }
    func isOver(at tick: Int) -> Bool { connection == .ended && tick > heard }
  }

  private struct Model {
    var sources: [Origin: Source] = [:]
    var tick = 0
    var reports = 0
    var viewers = 0
    var peak = 0
    var title = ""
    var phase: StreamState?

    mutating func report(_ origin: Origin, _ change: (inout Source, Int) -> Void) {
      reports += 1
      var source = sources[origin] ?? Source()
      source.heard = tick
      if source.phase?.state != .ended { source.staleSince = nil }
      change(&source, reports)
      sources[origin] = source
      derive()
    }

    mutating func report(_ state: StreamState, _ origin: Origin) {
      report(origin) { [tick] source, number in
        switch state {
        case .live: source.wentLive = source.wentLive ?? number
        case .paused: break
        case .waiting, .ended: source.wentLive = nil
        }
        source.staleSince =
          state != .ended ? nil : source.phase?.state == .ended ? source.staleSince : tick
        source.phase = (state, number)
      }
      derivePhase()
    }

    mutating func pass(_ connections: [Origin: SourceHealth.Connection]) {
      tick += 1
      for (origin, connection) in connections { sources[origin]?.connection = connection }
      for (origin, var source) in sources {
        if source.connection == .live { source.heard = tick }
        let isQuiet =
          source.phase?.state == .ended || source.isOver(at: tick) || tick - source.heard >= 150
        source.staleSince = isQuiet ? source.staleSince ?? tick : nil
        sources[origin] = source
      }
      derive()
      derivePhase()
    }

    private mutating func derive() {
      let counting = sources.values.filter { $0.viewers != nil }
      if !counting.isEmpty {
        viewers =
          counting.filter { counting.count == 1 || !$0.isGone(at: tick) }
          .reduce(0) { $0 + ($1.viewers ?? 0) }
      }
      peak = max(peak, viewers)
      let titled = sources.values.filter { $0.title != nil && !$0.isGone(at: tick) }
      let onAir = titled.filter { $0.wentLive != nil }.min { $0.wentLive! < $1.wentLive! }
      let newest = titled.max { $0.title!.report < $1.title!.report }
      title = (onAir ?? newest)?.title?.text ?? title
    }

    private mutating func derivePhase() {
      let known = sources.values.filter { source in
        source.phase.map { phase in
          phase.state == .ended || !source.isGone(at: tick) || !source.isOver(at: tick)
        } ?? false
      }
      let states = known.compactMap(\.phase?.state)
      if states.contains(.live) {
        phase = .live
      } else if states.contains(.paused) {
        phase = .paused
      } else {
        phase = known.compactMap(\.phase).max { $0.report < $1.report }?.state ?? phase
      }
    }
  }

  @Test(arguments: 1...60 as ClosedRange<UInt64>)
  func `the header always shows what its parts add up to`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let origins = (0..<random.pick(2..<6)).map {
      Origin(platform: Text("p\($0)"), source: Text("s\($0)"))
    }
    var state = HeaderFeature.State()
    var model = Model()
    func send(_ action: HeaderFeature.Action) {
      _ = HeaderFeature().reduce(into: &state, action: action)
    }
    // Silence counts once there are two sources, from the first tick.
    for origin in origins.prefix(2) {
      send(.viewersChanged(count: 5, peak: 5, from: origin))
      model.report(origin) { source, _ in source.viewers = 5 }
    }
    send(.ticked(at: 0))
    var connections: [Origin: SourceHealth.Connection] = [:]
    for step in 0..<2_000 {
      let origin = origins[random.pick(0..<origins.count)]
      switch random.pick(0..<60) {
      case 0:
        let count = random.pick(0..<1_000)
        send(.viewersChanged(count: count, peak: count, from: origin))
        model.report(origin) { source, _ in source.viewers = count }
      case 1:
        send(.titleChanged("title \(step)", from: origin))
        model.report(origin) { source, number in source.title = ("title \(step)", number) }
      case 2:
        let phase = StreamState.allCases[random.pick(0..<4)]
        send(.streamChanged(phase, at: Timestamp(model.tick) * 1_000, from: origin))
        model.report(phase, origin)
      case 3:
        connections[origin] = [.live, .ended, .connecting][random.pick(0..<3)]
      default:
        state.setConnections { name in
          origins.first { $0.source == name }.flatMap { connections[$0] }
        }
        model.pass(connections)
        send(.ticked(at: Timestamp(model.tick) * 1_000))
      }
      #expect(state.viewers == model.viewers, "step \(step)")
      #expect(state.peakViewers == model.peak, "step \(step)")
      #expect(state.title == model.title, "step \(step)")
      #expect(state.phase == model.phase, "step \(step)")
    }
  }
}

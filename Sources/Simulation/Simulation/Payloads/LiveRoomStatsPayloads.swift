import HangSimulation
import LiveEvents

extension GeneratedType {
  static let liveRoomStats = [
    GeneratedType("stats") { state, _ in .liveRoomStats(state.statistics()) }
  ]
}

extension PayloadMaker.State {
  /// Returns statistics of a good connection, except for the last five of every 40 samples.
  fileprivate mutating func statistics() -> StreamStatistics {
    let isBad = occasions % 40 >= 35
    if isBad { level += random.integer(in: 1...12) }
    return StreamStatistics(
      bitrateKbps: Double(random.integer(in: isBad ? 1_800...2_600 : 5_700...6_200)),
      framesPerSecond: Double(random.integer(in: isBad ? 410...540 : 592...600)) / 10,
      droppedFrames: level,
      roundTripMilliseconds: Double(random.integer(in: isBad ? 1_200...3_500 : 180...420)) / 10,
      congestion: Double(random.integer(in: isBad ? 350...900 : 0...60)) / 1000)
  }
}

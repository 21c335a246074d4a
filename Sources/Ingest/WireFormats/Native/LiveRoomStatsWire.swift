import JSON
import LiveEvents

extension StreamStatistics: NativeEvent {
  enum NativeType: String, CaseIterable { case stats }

  var nativeType: NativeType { .stats }

  init(_ type: NativeType, from line: borrowing NativeMembers) throws(RejectionReason) {
    self.init(
      bitrateKbps: line.optionalNumber(.bitrateKbps, in: EventLimits.measure),
      framesPerSecond: line.optionalNumber(.framesPerSecond, in: EventLimits.measure),
      droppedFrames: line.optionalInteger(.droppedFrames, in: EventLimits.total),
      roundTripMilliseconds: line.optionalNumber(.roundTripMs, in: EventLimits.measure),
      congestion: line.optionalNumber(.congestion, in: EventLimits.fraction))
    guard self != StreamStatistics() else { throw .missingMember }
  }

  func write(to object: inout JSONWriter) {
    object.add("bitrateKbps", bitrateKbps)
    object.add("framesPerSecond", framesPerSecond)
    object.add("droppedFrames", droppedFrames)
    object.add("roundTripMs", roundTripMilliseconds)
    object.add("congestion", congestion)
  }
}

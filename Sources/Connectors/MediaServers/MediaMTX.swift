import JSON

/// Parses the API of MediaMTX. Version 1.20 renamed many members; old and new names are accepted.
enum MediaMTX {
  private static let truth = JSONShape.test { $0.looseTruth != nil }
  private static let pathShape = JSONShape.object([
    "name": .text, "online": truth, "ready": truth, "sourceReady": truth, "onlineTime": .text,
    "readyTime": .text, "inboundBytes": .looseCount, "bytesReceived": .looseCount,
    "readers": .list(.object([:])),
  ])
  private static let connectionShape = JSONShape.object([
    "state": .text, "path": .text, "msRTT": .count,
  ])

  static func answer(_ body: [UInt8], srt: [UInt8]?) -> ServerAnswer? {
    guard let list = JSONValue(lenient: body)?["items"]?.arrayValue else { return nil }
    var roundTrips: [String: Double] = [:]
    let connections = srt.flatMap { JSONValue(lenient: $0) }?["items"]?.arrayValue ?? []
    let unusable =
      list.flatMap { pathShape.misfits(of: $0, named: "path") }
      + connections.flatMap { connectionShape.misfits(of: $0, named: "connection") }
    for connection in connections where connection["state"]?.stringValue == "publish" {
      guard let path = connection["path"]?.word(atMost: 1024),
        let roundTrip = connection["msRTT"]?.looseNumber, roundTrip >= 0
      else { continue }
      roundTrips[path] = roundTrip
    }
    let streams = list.compactMap { path -> ServedStream? in
      // A path without a name cannot be distinguished from others.
      guard let name = path["name"]?.word(atMost: 1024), !name.isEmpty else { return nil }
      return ServedStream(
        name: name, isLive: isLive(path),
        bytes: path["inboundBytes"]?.looseCount ?? path["bytesReceived"]?.looseCount,
        viewers: path["readers"]?.arrayValue?.count, roundTripMilliseconds: roundTrips[name])
    }
    return ServerAnswer(streams, unusable: unusable)
  }

  /// Returns whether a path is live. If the response has no member for this state, a path is live
  /// if it has a start time.
  private static func isLive(_ path: JSONValue) -> Bool {
    for name in ["online", "ready", "sourceReady"] {
      if let isLive = path[name]?.looseTruth { return isLive }
    }
    return ["onlineTime", "readyTime"].contains { path[$0]?.stringValue?.isEmpty == false }
  }
}

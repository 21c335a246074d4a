import JSON

/// The API of MediaMTX. Version 1.20 has given many members other names; both are read.
enum MediaMTX {
  static func streams(_ body: [UInt8], srt: [UInt8]?) -> [ServedStream]? {
    guard let list = JSONValue(lenient: body)?["items"]?.arrayValue else { return nil }
    var roundTrips: [String: Double] = [:]
    let connections = srt.flatMap { JSONValue(lenient: $0) }?["items"]?.arrayValue ?? []
    for connection in connections where connection["state"]?.stringValue == "publish" {
      guard let path = connection["path"]?.word(atMost: 1024),
        let roundTrip = connection["msRTT"]?.looseNumber, roundTrip >= 0
      else { continue }
      roundTrips[path] = roundTrip
    }
    return list.compactMap { path in
      // A path without a name cannot be told from others.
      guard let name = path["name"]?.word(atMost: 1024), !name.isEmpty else { return nil }
      return ServedStream(
        name: name, isLive: isLive(path),
        bytes: path["inboundBytes"]?.looseCount ?? path["bytesReceived"]?.looseCount,
        viewers: path["readers"]?.arrayValue?.count, roundTripMilliseconds: roundTrips[name])
    }
  }

  /// Without a member that says so, what has been ready since some time is.
  private static func isLive(_ path: JSONValue) -> Bool {
    for name in ["online", "ready", "sourceReady"] {
      if let isLive = path[name]?.looseTruth { return isLive }
    }
    return ["onlineTime", "readyTime"].contains { path[$0]?.stringValue?.isEmpty == false }
  }
}

import JSON

/// The API of MediaMTX. Version 1.20 has given many members other names; both are read.
enum MediaMTX {
  static func streams(_ body: [UInt8], srt: [UInt8]?) -> [ServedStream]? {
    guard let list = (try? JSONValue(parsing: body))?["items"]?.arrayValue else { return nil }
    var roundTrips: [String: Double] = [:]
    let connections = srt.flatMap { try? JSONValue(parsing: $0) }?["items"]?.arrayValue ?? []
    for connection in connections where connection["state"]?.stringValue == "publish" {
      guard let path = connection["path"]?.stringValue,
        let roundTrip = number(connection["msRTT"]), roundTrip >= 0
      else { continue }
      roundTrips[path] = roundTrip
    }
    return list.compactMap { path in
      guard let name = path["name"]?.stringValue else { return nil }
      let bytes = path["inboundBytes"] ?? path["bytesReceived"]
      return ServedStream(
        name: name, isLive: (path["online"] ?? path["ready"])?.boolValue ?? false,
        bytes: bytes?.integerValue.flatMap { $0 >= 0 ? Int($0) : nil },
        viewers: path["readers"]?.arrayValue?.count, roundTripMilliseconds: roundTrips[name])
    }
  }

  private static func number(_ value: JSONValue?) -> Double? {
    switch value {
    case .integer(let integer)?: Double(integer)
    case .number(let number)?: number
    default: nil
    }
  }
}

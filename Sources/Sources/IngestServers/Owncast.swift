import JSON

/// The status of an Owncast, which has one stream.
enum Owncast {
  static func streams(_ body: [UInt8]) -> [ServedStream]? {
    guard let status = JSONValue(lenient: body), let isLive = status["online"]?.looseTruth
    else { return nil }
    return [
      ServedStream(name: "owncast", isLive: isLive, viewers: status["viewerCount"]?.looseCount)
    ]
  }
}

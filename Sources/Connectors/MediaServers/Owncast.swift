import JSON

/// Parses the status of an Owncast server, which has one stream.
enum Owncast {
  private static let shape = JSONShape.object(["viewerCount": .looseCount])

  static func answer(_ body: [UInt8]) -> ServerAnswer? {
    guard let status = JSONValue(lenient: body), let isLive = status["online"]?.looseTruth
    else { return nil }
    return ServerAnswer(
      [ServedStream(name: "owncast", isLive: isLive, viewers: status["viewerCount"]?.looseCount)],
      unusable: shape.misfits(of: status, named: "status"))
  }
}

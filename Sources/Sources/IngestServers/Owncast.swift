import JSON

/// The status of an Owncast, which has one stream.
enum Owncast {
  static func streams(_ body: [UInt8]) -> [ServedStream]? {
    guard let status = try? JSONValue(parsing: body), let isLive = status["online"]?.boolValue
    else { return nil }
    let viewers = status["viewerCount"]?.integerValue
    return [
      ServedStream(
        name: "owncast", isLive: isLive, viewers: viewers.flatMap { $0 >= 0 ? Int($0) : nil })
    ]
  }
}

package import LiveSources

/// What a server that takes streams says of one of them.
package struct ServedStream: Equatable, Sendable {
  package var name: String
  package var isLive: Bool
  /// Bytes taken so far.
  package var bytes: Int?
  /// Who plays it.
  package var viewers: Int?
  package var framesPerSecond: Double?
  package var roundTripMilliseconds: Double?
  /// The bit rate by the server's own measure, which is known at once.
  package var bitrateKbps: Double?

  package init(
    name: String, isLive: Bool, bytes: Int? = nil, viewers: Int? = nil,
    framesPerSecond: Double? = nil, roundTripMilliseconds: Double? = nil,
    bitrateKbps: Double? = nil
  ) {
    self.name = name
    self.isLive = isLive
    self.bytes = bytes
    self.viewers = viewers
    self.framesPerSecond = framesPerSecond
    self.roundTripMilliseconds = roundTripMilliseconds
    self.bitrateKbps = bitrateKbps
  }
}

/// What a server answers.
package struct ServerAnswer: Equatable, Sendable {
  package var streams: [ServedStream]
  /// The process that answers, which knows its own streams only; `nil` for servers that answer as a
  /// whole.
  package var worker: String?
  /// Members whose value was of no use, by name.
  package var odd: [String]

  package init(_ streams: [ServedStream], worker: String? = nil, odd: [String] = []) {
    (self.streams, self.worker, self.odd) = (streams, worker, odd)
  }
}

/// The kinds of servers that are asked for their streams each second.
package enum IngestServer: Sendable {
  case nginxRTMP
  case mediaMTX
  case owncast

  /// The resources that are asked for, from the address that was given. Only the first one must be there.
  package func resources(_ address: HTTPAddress) -> [HTTPAddress] {
    switch self {
    case .nginxRTMP: [address]
    case .owncast: [address.with(path: "/api/status")]
    case .mediaMTX where Self.hasMetrics(address): [address]
    case .mediaMTX:
      [
        address.with(path: "/v3/paths/list?itemsPerPage=1000"),
        address.with(path: "/v3/srtconns/list?itemsPerPage=1000"),
      ]
    }
  }

  /// Whether an address is that of metrics instead of an API.
  private static func hasMetrics(_ address: HTTPAddress) -> Bool {
    address.path.prefix { $0 != "?" } == "/metrics"
  }

  /// What the answers say; `nil` if they are not those of such a server.
  package func answer(
    _ answers: [HTTPAnswer?], of address: HTTPAddress
  ) -> ServerAnswer? {
    guard let first = answers.first ?? nil, first.status == 200 else { return nil }
    switch self {
    case .nginxRTMP: return NginxRTMP.answer(first.body)
    case .owncast: return Owncast.answer(first.body)
    case .mediaMTX where Self.hasMetrics(address):
      return MediaMTXMetrics.answer(first.body)
    case .mediaMTX:
      let connections = answers.dropFirst().first.flatMap { $0 }
      return MediaMTX.answer(
        first.body, srt: connections.flatMap { $0.status == 200 ? $0.body : nil })
    }
  }

  /// Whether the server has one stream, whose name nobody chooses.
  var hasOneStream: Bool {
    switch self {
    case .owncast: true
    case .nginxRTMP, .mediaMTX: false
    }
  }
}

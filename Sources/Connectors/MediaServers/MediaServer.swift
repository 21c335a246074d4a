package import LiveSources

/// The state of one stream on an ingest server.
package struct ServedStream: Equatable, Sendable {
  package var name: String
  package var isLive: Bool
  /// The number of bytes received since the stream started.
  package var bytes: Int?
  package var viewers: Int?
  package var framesPerSecond: Double?
  package var roundTripMilliseconds: Double?
  /// The bit rate that the server reports. The first response already contains it, while a rate
  /// computed from byte counts needs two.
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

/// The response of an ingest server.
package struct ServerAnswer: Equatable, Sendable {
  package var streams: [ServedStream]
  /// The worker process that responded, if each worker knows only its own streams. `nil` for other
  /// servers.
  package var worker: String?
  /// The names of members whose values are unusable.
  package var unusable: [String]

  package init(_ streams: [ServedStream], worker: String? = nil, unusable: [String] = []) {
    (self.streams, self.worker, self.unusable) = (streams, worker, unusable)
  }
}

/// The kinds of ingest servers that can be polled for their streams.
package enum MediaServer: Sendable {
  case nginxRTMP
  case mediaMTX
  case owncast

  /// Returns the resources to request, based on the configured address. Only the first is required.
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

  /// Returns whether an address serves metrics instead of an API.
  private static func hasMetrics(_ address: HTTPAddress) -> Bool {
    address.path.prefix { $0 != "?" } == "/metrics"
  }

  /// Parses the responses. Returns `nil` for responses that no server of this kind sends.
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

  /// Whether servers of this kind have a single stream with a fixed name.
  var hasOneStream: Bool {
    switch self {
    case .owncast: true
    case .nginxRTMP, .mediaMTX: false
    }
  }
}

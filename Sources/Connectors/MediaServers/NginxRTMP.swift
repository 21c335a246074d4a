/// Parses the XML statistics of nginx's RTMP module (`rtmp_stat all`), or of its HTTP-FLV module.
enum NginxRTMP {
  /// The maximum nesting of XML elements, which exceeds the nesting in the statistics.
  private static let maximumDepth = 32

  private struct StreamEntry {
    var name = ""
    var clients = 0
    /// The number of clients that are not viewers: workers that receive the stream through
    /// `rtmp_auto_push`, and servers to which it is pushed.
    var relays = 0
    var isPublished = false
    var bytes: Int?
    var bandwidth: Double?
    var rate: Double?

    func stream(of application: String) -> ServedStream {
      ServedStream(
        name: "\(application)/\(name)", isLive: isPublished, bytes: bytes,
        viewers: max(0, clients - relays - (isPublished ? 1 : 0)),
        framesPerSecond: rate.flatMap { $0.isFinite && $0 > 0 ? $0 : nil },
        bitrateKbps: bandwidth.flatMap { $0.isFinite && $0 > 0 ? $0 / 1000 : nil })
    }
  }

  /// The client name of a worker that relays a stream to another worker.
  private static let relay = "ngx-local-relay"

  static func answer(_ body: [UInt8]) -> ServerAnswer? {
    var path: [Substring] = []
    var found: [ServedStream] = []
    var isServer = false
    var worker: String?
    var unusable: [String] = []
    /// Parses a non-negative number. Counts any other text as unusable, unless it is blank.
    func number<Number: LosslessStringConvertible & Comparable & Numeric>(
      _ text: Substring, _ tag: Substring
    ) -> Number? {
      let number = Number(String(text)).flatMap {
        (0...1_000_000_000_000_000_000).contains($0) ? $0 : nil
      }
      if number == nil, text.contains(where: { !$0.isWhitespace }) {
        unusable.append(String(tag.dropFirst()))
      }
      return number
    }
    var application = ""
    var stream: StreamEntry?
    var client = (isRelay: false, isPublishing: false)
    let text = String(decoding: body, as: UTF8.self)
    var rest = text[...]
    while let opening = rest.firstIndex(of: "<") {
      let value = rest[..<opening]
      rest = rest[rest.index(after: opening)...]
      guard let closing = rest.firstIndex(of: ">") else { return nil }
      let tag = rest[..<closing]
      rest = rest[rest.index(after: closing)...]
      if tag.first == "?" || tag.first == "!" { continue }
      if tag.first == "/" {
        guard path.popLast() == tag.dropFirst() else { return nil }
        switch (path.last, tag) {
        case ("rtmp", "/pid"): worker = String(value.prefix(20))
        case ("application", "/name"): application = unescaped(value)
        case ("stream", "/name"): stream?.name = unescaped(value)
        case ("stream", "/bytes_in"): stream?.bytes = number(value, tag)
        case ("stream", "/bw_in"): stream?.bandwidth = number(value, tag)
        case ("stream", "/nclients"): stream?.clients = min(number(value, tag) ?? 0, 1 << 40)
        case ("video", "/frame_rate"): stream?.rate = number(value, tag)
        case ("client", "/flashver"): if value.contains(Self.relay) { client.isRelay = true }
        // For a server that receives the stream, nginx reports a URL without its scheme as the
        // address.
        case ("client", "/address"): if value.contains("/") { client.isRelay = true }
        case ("stream", "/client"):
          if client.isRelay, !client.isPublishing { stream?.relays += 1 }
        case (_, "/stream"):
          guard let ended = stream else { break }
          stream = nil
          found.append(ended.stream(of: application))
        default: break
        }
        continue
      }
      let name = tag.prefix { $0 != " " && $0 != "/" && !$0.isNewline }
      if name == "rtmp" || name == "http-flv" { isServer = true }
      if tag.last == "/" {
        // Both streams and clients have the element `publishing`.
        if name == "publishing" {
          if path.last == "stream" { stream?.isPublished = true }
          if path.last == "client" { client.isPublishing = true }
        }
        continue
      }
      guard path.count < maximumDepth else { return nil }
      path.append(name)
      if name == "stream" { stream = StreamEntry() }
      if name == "client" { client = (false, false) }
    }
    return isServer && path.isEmpty ? ServerAnswer(found, worker: worker, unusable: unusable) : nil
  }

  private static func unescaped(_ text: Substring) -> String {
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")].reduce(String(text)) {
      $0.replacing($1.0, with: $1.1)
    }
  }
}

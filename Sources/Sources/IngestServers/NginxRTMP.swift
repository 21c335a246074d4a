/// The statistics of nginx's RTMP module (`rtmp_stat all`): XML.
enum NginxRTMP {
  /// The statistics are not nested as deeply as this.
  private static let maximumDepth = 32

  static func streams(_ body: [UInt8]) -> [ServedStream]? {
    var path: [Substring] = []
    var found: [ServedStream] = []
    var isServer = false
    var application = ""
    var stream: (name: String, clients: Int, isPublished: Bool, bytes: Int?, rate: Double?)?
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
        case ("application", "/name"): application = unescaped(value)
        case ("stream", "/name"): stream?.name = unescaped(value)
        case ("stream", "/bytes_in"): stream?.bytes = Int(value)
        case ("stream", "/nclients"): stream?.clients = Int(value) ?? 0
        case ("video", "/frame_rate"): stream?.rate = Double(value)
        case (_, "/stream"):
          guard let ended = stream else { break }
          stream = nil
          let viewers = max(0, ended.clients - (ended.isPublished ? 1 : 0))
          found.append(
            ServedStream(
              name: "\(application)/\(ended.name)", isLive: ended.isPublished, bytes: ended.bytes,
              viewers: viewers,
              framesPerSecond: ended.rate.flatMap { $0.isFinite && $0 > 0 ? $0 : nil }))
        default: break
        }
        continue
      }
      let name = tag.prefix { $0 != " " && $0 != "/" && !$0.isNewline }
      if name == "rtmp" { isServer = true }
      if tag.last == "/" {
        // Of the stream, not of one of its clients.
        if name == "publishing", path.last == "stream" { stream?.isPublished = true }
        continue
      }
      guard path.count < maximumDepth else { return nil }
      path.append(name)
      if name == "stream" { stream = ("", 0, false, nil, nil) }
    }
    return isServer && path.isEmpty ? found : nil
  }

  private static func unescaped(_ text: Substring) -> String {
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")].reduce(String(text)) {
      $0.replacing($1.0, with: $1.1)
    }
  }
}

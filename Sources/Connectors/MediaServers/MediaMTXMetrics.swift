/// Parses MediaMTX's Prometheus metrics, for servers that expose metrics but not the API. Accepts
/// the names from before and after version 1.20.
enum MediaMTXMetrics {
  static func answer(_ body: [UInt8]) -> ServerAnswer? {
    var unusable: [String] = []
    var streams: [String: ServedStream] = [:]
    var isServer = false
    for line in String(decoding: body, as: UTF8.self).split(whereSeparator: \.isNewline) {
      guard let sample = Sample(line) else { continue }
      // A server without streams reports one sample without a path name.
      if sample.name == "paths" { isServer = true }
      guard let name = sample.labels["name"] ?? sample.labels["path"] else { continue }
      var stream = streams[name] ?? ServedStream(name: name, isLive: false)
      let count = Int(exactly: sample.value.rounded()).flatMap { $0 >= 0 ? $0 : nil }
      switch sample.name {
      case "paths":
        let state = sample.labels["state"]
        if state == "ready" || state == "online" { stream.isLive = sample.value > 0 }
      case "paths_inbound_bytes", "paths_bytes_received": stream.bytes = count
      // MediaMTX reports one sample per kind of reader.
      case "paths_readers": stream.viewers = (stream.viewers ?? 0) + (count ?? 0)
      case "srt_conns_ms_rtt" where sample.labels["state"] == "publish":
        stream.roundTripMilliseconds = sample.value >= 0 ? sample.value : nil
      default: continue
      }
      if count == nil { unusable.append(String(sample.name)) }
      streams[name] = stream
    }
    return isServer
      ? ServerAnswer(streams.values.sorted { $0.name < $1.name }, unusable: unusable) : nil
  }

  /// A Prometheus sample such as `NAME{LABEL="VALUE",...} VALUE`.
  private struct Sample {
    let name: Substring
    var labels: [Substring: String] = [:]
    let value: Double

    /// Parses a line. Returns `nil` for comments and any other text.
    init?(_ line: Substring) {
      name = line.prefix { $0 != "{" && $0 != " " }
      var rest = line.dropFirst(name.count)
      if rest.first == "{" {
        rest = rest.dropFirst()
        while let next = rest.first, next != "}" {
          let label = rest.prefix { $0 != "=" }
          rest = rest.dropFirst(label.count + 1)
          guard rest.first == "\"" else { return nil }
          rest = rest.dropFirst()
          var text = ""
          while let character = rest.popFirst(), character != "\"" {
            text.append(character == "\\" ? rest.popFirst() ?? character : character)
          }
          labels[label] = text
          if rest.first == "," { rest = rest.dropFirst() }
        }
        rest = rest.dropFirst()
      }
      guard !name.isEmpty, !name.hasPrefix("#") else { return nil }
      value = Double(rest.drop { $0 == " " }.prefix { $0 != " " }) ?? .nan
    }
  }
}

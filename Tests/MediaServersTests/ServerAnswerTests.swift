import LiveSources
import MediaServers
import TestSupport
import Testing

struct ServerAnswerTests {
  private static func answer(_ text: String, status: Int = 200) -> HTTPAnswer {
    HTTPAnswer(status: status, body: Array(text.utf8))
  }

  private static func streams(
    _ server: MediaServer, _ answers: [HTTPAnswer?], path: String = "/"
  ) -> [ServedStream]? { Self.read(server, answers, path: path)?.streams }

  private static func read(
    _ server: MediaServer, _ answers: [HTTPAnswer?], path: String = "/"
  ) -> ServerAnswer? {
    HTTPAddress("http://media\(path)").flatMap { server.answer(answers, of: $0) }
  }

  /// Expects that a value is counted if it has no effect on the streams.
  private static func expectCount(
    _ answer: ServerAnswer?, like absent: ServerAnswer?, _ what: String
  ) {
    if answer?.streams == absent?.streams { #expect(answer?.unusable.isEmpty == false, "\(what)") }
  }

  /// Values that count as absent or as zero.
  private static let silent = [
    "null", "\"\"", "[]", "0", "0.1", "false", "", "[1]", "{}", "1e400", "NaN", "Infinity",
  ]

  private static let metrics = """
    # HELP paths Paths
    paths{name="a\\"b",state="notReady"} 1
    paths{name="live",state="ready"} 1
    paths_readers{name="live",state="ready",readerType="hlsSession"} 2
    paths_readers{name="live",state="ready",readerType="webRTCSession"} 3
    BYTES{name="live",state="ready"} 1234
    srt_conns_ms_rtt{id="1",path="live",remoteAddr="1.2.3.4:5",state="read"} 70
    srt_conns_ms_rtt{id="2",path="live",remoteAddr="1.2.3.4:6",state="publish"} 4.5
    rtsp_conns 0
    nonsense{ 1
    """

  @Test(arguments: ["paths_inbound_bytes", "paths_bytes_received"])
  func `metrics of MediaMTX are read with their old and new names`(bytes: String) {
    let text = Self.metrics.replacing("BYTES", with: bytes)
    #expect(
      Self.streams(.mediaMTX, [Self.answer(text)], path: "/metrics") == [
        ServedStream(name: "a\"b", isLive: false),
        ServedStream(
          name: "live", isLive: true, bytes: 1234, viewers: 5, roundTripMilliseconds: 4.5),
      ])
    #expect(Self.streams(.mediaMTX, [Self.answer("paths 0\n")], path: "/metrics") == [])
    #expect(Self.streams(.mediaMTX, [Self.answer("<html>")], path: "/metrics") == nil)
  }

  private static let statistics = """
    <?xml version="1.0" encoding="utf-8" ?>
    <?xml-stylesheet type="text/xsl" href="stat.xsl" ?>
    <rtmp><nginx_version>1.22.1</nginx_version><bytes_in>900</bytes_in><server><application>
    <name>live</name><live>
    <stream><name>a&amp;b</name><time>5000</time><bw_in>0</bw_in><bytes_in>500</bytes_in>
    <client><id>1</id><dropped>0</dropped><publishing/><active/></client>
    <client><id>2</id><bytes_in>3</bytes_in></client>
    <meta><video><width>640</width><frame_rate>10.000</frame_rate></video></meta>
    <nclients>2</nclients><publishing/><active/></stream>
    <stream><name>waits</name><bytes_in>0</bytes_in><client><publishing/></client>
    <nclients>1</nclients></stream>
    <nclients>3</nclients></live></application></server></rtmp>
    """

  @Test func `statistics of nginx are read`() {
    #expect(
      Self.streams(.nginxRTMP, [Self.answer(Self.statistics)]) == [
        ServedStream(
          name: "live/a&b", isLive: true, bytes: 500, viewers: 1, framesPerSecond: 10),
        ServedStream(name: "live/waits", isLive: false, bytes: 0, viewers: 1),
      ])
  }

  @Test
  func `the API of MediaMTX is read with its old and new names, including the round trip of SRT`() {
    let new = """
      {"itemCount":2,"items":[{"name":"cam","online":true,"inboundBytes":900,"readers":[{},{}]},
      {"name":"idle","online":false,"readers":[]}]}
      """
    let old = #"{"items":[{"name":"cam","ready":true,"bytesReceived":900,"readers":[{}]}]}"#
    let srt = """
      {"items":[{"path":"cam","state":"read","msRTT":99},{"path":"cam","state":"publish","msRTT":12.5}]}
      """
    #expect(
      Self.streams(.mediaMTX, [Self.answer(new), Self.answer(srt)]) == [
        ServedStream(
          name: "cam", isLive: true, bytes: 900, viewers: 2, roundTripMilliseconds: 12.5),
        ServedStream(name: "idle", isLive: false, viewers: 0),
      ])
    #expect(
      Self.streams(.mediaMTX, [Self.answer(old), Self.answer("", status: 404)]) == [
        ServedStream(name: "cam", isLive: true, bytes: 900, viewers: 1)
      ])
  }

  @Test func `the status of Owncast is read`() {
    let live = #"{"online":true,"viewerCount":7,"versionNumber":"0.2.0"}"#
    #expect(
      Self.streams(.owncast, [Self.answer(live)]) == [
        ServedStream(name: "owncast", isLive: true, viewers: 7)
      ])
    #expect(
      Self.streams(.owncast, [Self.answer(#"{"online":false}"#)]) == [
        ServedStream(name: "owncast", isLive: false)
      ])
  }

  @Test
  func `answers of several nginx workers are distinguished, and relays do not count as viewers`()
    throws
  {
    let text = Self.statistics
      .replacing("<rtmp>", with: "<rtmp><pid>4711</pid>")
      .replacing("<bw_in>0</bw_in>", with: "<bw_in>800000</bw_in>")
      .replacing(
        "<client><id>2</id>", with: "<client><id>2</id><flashver>ngx-local-relay</flashver>")
    let address = try #require(HTTPAddress("http://media/stat"))
    let answer = MediaServer.nginxRTMP.answer([Self.answer(text)], of: address)
    #expect(answer?.worker == "4711")
    #expect(answer?.streams.first?.viewers == 0)
    #expect(answer?.streams.first?.bitrateKbps == 800)
  }

  private static let path = [
    "name": #""cam""#, "online": "true", "ready": "true", "inboundBytes": "900",
    "bytesReceived": "900",
    "readers": "[{}]", "readyTime": #""2026-11-24T20:00:00Z""#, "source": #"{"type":"rtmpConn"}"#,
    "tracks": "[]",
  ]

  @Test(arguments: path.keys.filter { $0 != "name" }.sorted())
  func `no unusable value hides a path of MediaMTX`(member: String) {
    for unusable in OddValues.json {
      var members = Self.path
      members[member] = unusable
      let text = "{" + members.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
      let answer = Self.read(.mediaMTX, [Self.answer("{\"items\":[\(text)]}"), nil])
      let streams = answer?.streams
      members[member] = nil
      let rest = "{" + members.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
      let absent = Self.read(.mediaMTX, [Self.answer("{\"items\":[\(rest)]}"), nil])
      let isRead = !["source", "tracks"].contains(member)
      if isRead, !Self.silent.contains(unusable),
        !(member == "readyTime" && unusable.hasPrefix("\"")),
        !(["online", "ready"].contains(member) && unusable == "true"), unusable.first != "["
      {
        Self.expectCount(answer, like: absent, "\(member) \(unusable)")
      }
      // False is a valid value of this member.
      let isLive = !(member == "online" && (unusable == "false" || unusable == "0"))
      #expect(streams?.map(\.isLive) == [isLive], "\(member) \(unusable)")
    }
  }

  @Test func `no unusable value hides the stream of Owncast`() {
    for unusable in OddValues.json {
      for member in ["viewerCount", "streamTitle", "lastConnectTime", "versionNumber"] {
        let answer = Self.read(
          .owncast, [Self.answer("{\"online\":true,\"\(member)\":\(unusable)}")])
        #expect(answer?.streams.first?.isLive == true, "\(member) \(unusable)")
        if member == "viewerCount", !["null", "\"\""].contains(unusable), unusable != "1e400",
          unusable != "NaN",
          unusable != "Infinity"
        {
          let absent = Self.read(.owncast, [Self.answer(#"{"online":true}"#)])
          Self.expectCount(answer, like: absent, unusable)
        }
      }
    }
    #expect(Self.streams(.owncast, [Self.answer(#"{"online":"true"}"#)])?.first?.isLive == true)
  }

  @Test func `no unusable value hides a stream of nginx`() {
    let fields = ["time", "bw_in", "bytes_in", "nclients", "frame_rate", "width", "id", "dropped"]
    for field in fields {
      for unusable in ["", "abc", "-1", "1e308", "NaN", "99999999999999999999", "&lt;", "0.5"] {
        let text = Self.statistics.split(separator: "<", omittingEmptySubsequences: false)
          .map { $0.hasPrefix("\(field)>") ? "\(field)>\(unusable)" : String($0) }.joined(
            separator: "<")
        let answer = Self.read(.nginxRTMP, [Self.answer(text)])
        let streams = answer?.streams
        #expect(streams?.first?.isLive == true && streams?.count == 2, "\(field) \(unusable)")
        if ["bw_in", "bytes_in", "nclients", "frame_rate"].contains(field), unusable != "" {
          let rest = text.replacing("<\(field)>\(unusable)", with: "<\(field)>")
          let absent = Self.read(.nginxRTMP, [Self.answer(rest)])
          Self.expectCount(answer, like: absent, "\(field) \(unusable)")
        }
      }
    }
  }

  @Test(arguments: [
    "", "<html><body>404</body></html>", "<rtmp>", "<rtmp></server></rtmp>", "<rtmp><a",
    String(repeating: "<rtmp>", count: 100), "{}", #"{"items":5}"#,
  ])
  func `pages without statistics are not recognised as statistics`(text: String) {
    #expect(Self.streams(.nginxRTMP, [Self.answer(text)]) == nil)
    #expect(Self.streams(.mediaMTX, [Self.answer(text), nil]) == nil)
    #expect(Self.streams(.owncast, [Self.answer(text)]) == nil)
  }

  @Test(arguments: [
    (MediaServer.nginxRTMP, statistics, "/"), (.mediaMTX, metrics, "/metrics"),
  ])
  func `damaged statistics are read in part or rejected`(
    server: MediaServer, text: String, path: String
  ) {
    var generator = SplitMix64(seed: 7)
    for _ in 0..<2_000 {
      var bytes = Array(text.utf8)
      for _ in 0..<generator.pick(1..<5) {
        let index = generator.pick(0..<bytes.count)
        if generator.oneIn(2) {
          bytes.remove(at: index)
        } else {
          bytes[index] = UInt8(generator.pick(32..<127))
        }
      }
      let streams = Self.streams(server, [HTTPAnswer(status: 200, body: bytes)], path: path)
      #expect((streams ?? []).allSatisfy { ($0.framesPerSecond ?? 1) > 0 })
    }
  }

  @Test(
    arguments: [
      ("http://a", "http://a:80/"), ("https://a/b?c=d", "https://a:443/b?c=d"),
      ("http://[::1]:9997/v3", "http://[::1]:9997/v3"), ("http://a?b", "http://a:80/?b"),
      ("a:80", nil), ("ftp://a", nil), ("http://", nil), ("http://u:p@a", nil),
      ("http://a/b c", nil), ("http://a:0", nil),
      ("http://a\u{301}", nil), ("http\u{301}://a", nil),
      (
        "http://a/" + String(repeating: "b", count: 2039),
        "http://a:80/" + String(repeating: "b", count: 2039)
      ),
      ("http://a/" + String(repeating: "b", count: 2040), nil),
    ] as [(String, String?)])
  func `valid addresses of media servers are parsed`(text: String, address: String?) {
    #expect(HTTPAddress(text)?.description == address)
  }

  @Test func `the scheme of an address determines whether it is encrypted`() {
    #expect(HTTPAddress("ws://a/b", .webSocket)?.isEncrypted == false)
    #expect(HTTPAddress("wss://a/b", .webSocket)?.description == "wss://a:443/b")
    #expect(HTTPAddress("wss://a") == nil && HTTPAddress("https://a", .webSocket) == nil)
  }
}

import LiveEvents
import LiveSources
import ObsStudio
import RateLimiting
import SourceTool
import Testing
import YAMLReader

struct SourceConfigurationTests {
  private static func read(_ text: String) throws -> SourceConfiguration {
    var configuration = SourceConfiguration()
    try configuration.read(text, file: "a.yaml")
    return configuration
  }

  private static let least = "kind: twitch\ntwitch:\n  channels: [ada]\n"

  @Test func `a kind and a channel are enough`() throws {
    let configuration = try Self.read(Self.least)
    #expect(configuration.kind == .twitch)
    #expect(configuration.twitch.channels == ["ada"])
    #expect(configuration.twitch.usesTLS)
    #expect(configuration.twitch.server.description == "irc.chat.twitch.tv:6697")
    #expect(configuration.patience == nil)
    #expect(configuration.room == nil)
  }

  @Test func `every key is read`() throws {
    let configuration = try Self.read(
      """
      kind: twitch
      room: main
      ingest: /tmp/ingest
      control: /tmp/control
      patience: 2m
      bufferMebibytes: 3
      twitch:
        channels: ["#Ada", bo]
        server: irc.example:7000
        tls: false
        certificates: /etc/ca.pem
        account: ada
        tokenFile: /etc/token
        channelsPerConnection: 7
        joinsPerTenSeconds: 2000
        loginFile: /etc/login
        events: true
        eventsURL: wss://events.example/ws
        api: http://127.0.0.1:8080
        logins: https://id.example
        history: https://history.example/v2
      obs:
        server: studio:4456
        passwordFile: /etc/password
      server:
        url: http://media:9997
        stream: live/test
      """)
    #expect(configuration.server.address?.description == "http://media:9997/")
    #expect(configuration.server.stream == "live/test")
    #expect(configuration.room == RoomName("main"))
    #expect(configuration.ingest == "/tmp/ingest")
    #expect(configuration.control == "/tmp/control")
    #expect(configuration.obs.server.description == "studio:4456")
    #expect(configuration.obs.passwordFile == "/etc/password")
    #expect(configuration.patience == .seconds(120))
    #expect(configuration.bufferMebibytes == 3)
    let twitch = configuration.twitch
    #expect(twitch.channels == ["ada", "bo"])
    #expect(twitch.server.description == "irc.example:7000")
    #expect(!twitch.usesTLS)
    #expect(twitch.certificates == "/etc/ca.pem")
    #expect(twitch.account == "ada")
    #expect(twitch.tokenFile == "/etc/token")
    #expect(twitch.channelsPerConnection == 7)
    #expect(twitch.joinsPerTenSeconds == 2000)
    #expect(twitch.loginFile == "/etc/login")
    #expect(twitch.readsEvents)
    #expect(twitch.eventsURL?.description == "wss://events.example:443/ws")
    #expect(twitch.api?.description == "http://127.0.0.1:8080/")
    #expect(twitch.logins?.description == "https://id.example:443/")
    #expect(twitch.history?.description == "https://history.example:443/v2")
  }

  @Test func `OBS needs nothing but its kind`() throws {
    let configuration = try Self.read("kind: obs")
    #expect(configuration.kind == .obs)
    #expect(configuration.obs.server.description == "127.0.0.1:4455")
    #expect(try configuration.obsSettings(credentials: nil).password == nil)
  }

  @Test(arguments: [
    ("kind: twich", "a.yaml:1: kind: there is no 'twich'; did you mean 'twitch'?"),
    ("room: main", "a.yaml: kind: is missing; write 'kind: twitch' or 'kind: obs'"),
    ("kind: twitch", "a.yaml: twitch.channels: names no channel; write [channel]"),
    (
      least + "  chanels: 1",
      "a.yaml:4: twitch.chanels: unknown key; did you mean 'twitch.channels'?"
    ),
    (least + "  tls: maybe", "a.yaml:4: twitch.tls: expected true or false, not 'maybe'"),
    (least + "  server: 'x:y'", "a.yaml:4: twitch.server: expected HOST:PORT, not 'x:y'"),
    ("kind: obs\nobs:\n  server: ':'", "a.yaml:3: obs.server: expected HOST:PORT, not ':'"),
    (
      "kind: mediamtx",
      "a.yaml: server.url: is missing; write http://HOST[:PORT]/PATH"
    ),
    (
      "kind: nginx-rtmp\nserver:\n  url: ftp://a",
      "a.yaml:3: server.url: expected http://HOST[:PORT]/PATH, not 'ftp://a'"
    ),
    (
      least + "  api: http://api.example",
      "a.yaml:4: twitch.api: expected https://HOST[:PORT]/PATH, not 'http://api.example'"
    ),
    (
      "kind: eventsub\ntwitch:\n  channels: [a, b]",
      "a.yaml: twitch.channels: names several; eventsub reads one"
    ),
    (least + "room: No", "a.yaml:4: room: 'No' is not a room name: [a-z0-9_][a-z0-9_.-]{0,63}"),
    (
      "kind: twitch\ntwitch:\n  channels: [a b]",
      "a.yaml:3: twitch.channels[0]: 'a b' is not a channel: [a-z0-9_]{1,25}"
    ),
    (
      "kind: twitch\ntwitch:\n  channels: [ab, AB]",
      "a.yaml:3: twitch.channels[1]: 'ab' is listed twice"
    ),
  ])
  func `a mistake names file, line and key`(text: String, message: String) {
    let error = #expect(throws: ConfigurationError.self) { try Self.read(text) }
    #expect(error?.description == message)
  }

  @Test func `the commented defaults have every key, and read back as defaults`() throws {
    let text = SourceConfiguration.commentedDefaults
    for key in SourceKey.all {
      let name = key.path.split(separator: ".").last ?? ""
      #expect(text.contains("\(name): \(key.standard)\n"), "\(key.path)")
      #expect(text.contains(key.meaning))
    }
    let uncommented = text.split(separator: "\n")
      .map { $0.hasPrefix("#") ? String($0.dropFirst()) : String($0) }
      .filter { !$0.drop { $0 == " " }.hasPrefix("#") && !$0.hasPrefix(" Configuration") }
      .joined(separator: "\n").replacing("channels: []", with: "channels: [ada]")
    #expect(try Self.read(uncommented).twitch.channels == ["ada"])
  }
}

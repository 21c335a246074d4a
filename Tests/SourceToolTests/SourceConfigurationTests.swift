import Foundation
import JSON
import LiveEvents
import LiveSources
import ObsStudio
import RateLimiting
import SourceTool
import TestSupport
import Testing
import TwitchEvents
import Webhooks
import YAMLReader

struct SourceConfigurationTests {
  private let home = TemporaryDirectory()
  private var directory: String { home.path }

  private static func read(_ text: String) throws -> SourceConfiguration {
    var configuration = SourceConfiguration()
    try configuration.read(text, file: "a.yaml")
    return configuration
  }

  private static let least = "kind: twitch\ntwitch:\n  channels: [ada]\n"

  @Test func `a source's configuration needs only a kind and a channel`() throws {
    let configuration = try Self.read(Self.least)
    #expect(configuration.kind == .twitch)
    #expect(configuration.twitch.channels == ["ada"])
    #expect(configuration.twitch.usesTLS)
    #expect(configuration.twitch.server.description == "irc.chat.twitch.tv:6697")
    #expect(configuration.patience == nil)
    #expect(configuration.room == nil)
  }

  @Test func `every key of a source's configuration is read`() throws {
    let configuration = try Self.read(
      """
      kind: twitch
      room: main
      ingest: /tmp/ingest
      control: /tmp/control
      patience: 2m
      bufferMebibytes: 3
      acts: [say, setTitle]
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
      owncast:
        tokenFile: /etc/owncast.token
      webhook:
        listen: 0.0.0.0:8090
        mapping: /etc/mapping.yaml
        secretFile: /etc/secret
        allowRemote: true
        maximumKibibytes: 12
      socialStream:
        session: a-B_9
        server: wss://ninja.example
      """)
    #expect(configuration.webhook.listen?.description == "0.0.0.0:8090")
    #expect(configuration.webhook.mappingFile == "/etc/mapping.yaml")
    #expect(configuration.webhook.secretFile == "/etc/secret")
    #expect(configuration.webhook.allowsRemote)
    #expect(configuration.webhook.maximumKibibytes == 12)
    #expect(configuration.socialStream.session?.reveal { $0 } == "a-B_9")
    #expect(configuration.socialStream.server?.description == "wss://ninja.example:443/")
    #expect(configuration.server.address?.description == "http://media:9997/")
    #expect(configuration.server.stream == "live/test")
    #expect(configuration.owncast.tokenFile == "/etc/owncast.token")
    #expect(configuration.acts == [.say, .setTitle])
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

  @Test func `the configuration of an OBS source needs only the kind`() throws {
    let configuration = try Self.read("kind: obs")
    #expect(configuration.kind == .obs)
    #expect(configuration.obs.server.description == "127.0.0.1:4455")
    #expect(try configuration.obsSettings(credentials: nil).password == nil)
  }

  @Test(arguments: [
    ("kind: twich", "a.yaml:1: kind: there is no 'twich'; did you mean 'twitch'?"),
    ("room: main", "a.yaml: kind: is missing; write 'kind: twitch' or 'kind: obs'"),
    ("kind: twitch", "a.yaml: twitch.channels: is empty; write [channel]"),
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
      "a.yaml: twitch.channels: lists several channels; eventsub reads only one"
    ),
    (
      "kind: webhook",
      "a.yaml: webhook.listen: is missing; write 127.0.0.1:PORT"
    ),
    (
      "kind: webhook\nwebhook:\n  listen: 127.0.0.1:80",
      "a.yaml: webhook.mapping: is missing; name a mapping file, or a sender such as ko-fi"
    ),
    (
      "kind: webhook\nwebhook: {listen: '192.0.2.1:80', mapping: m}",
      "a.yaml: webhook.listen: 192.0.2.1:80 can be reached by other machines; write "
        + "127.0.0.1:80, or 'allowRemote: true' and a secret"
    ),
    (
      "kind: owncast\nserver: {url: http://a}\nwebhook: {listen: '[::]:80'}",
      "a.yaml: webhook.listen: [::]:80 can be reached by other machines; write 127.0.0.1:80, or "
        + "'allowRemote: true' and a secret"
    ),
    (
      "kind: webhook\nwebhook: {listen: nowhere}",
      "a.yaml:2: webhook.listen: expected HOST:PORT, such as 127.0.0.1:8090, not 'nowhere'"
    ),
    (
      "kind: social-stream\nsocialStream: {session: a/b}",
      "a.yaml:2: socialStream.session: a session consists of letters, digits, - and _; "
        + "see the dock's address"
    ),
    (least + "room: No", "a.yaml:4: room: 'No' is not a room name: [a-z0-9_][a-z0-9_.-]{0,63}"),
    (
      "kind: twitch\ntwitch:\n  channels: [a b]",
      "a.yaml:3: twitch.channels[0]: 'a b' is not a channel: [a-z0-9_]{1,25}"
    ),
    (least + "acts: [say, sey]", "a.yaml:4: acts[1]: there is no 'sey'; did you mean 'say'?"),
    (least + "acts: say", "a.yaml:4: acts: expected a list"),
    (
      "kind: owncast\nserver: {url: 'http://a.example'}\nowncast: {tokenFile: /t}",
      "a.yaml: server.url: must use https, except on this machine, because of owncast.tokenFile"
    ),
    (
      "kind: twitch\ntwitch:\n  channels: [ab, AB]",
      "a.yaml:3: twitch.channels[1]: 'ab' is listed twice"
    ),
  ])
  func `an error in a source's configuration names the file, the line and the key`(
    text: String, message: String
  ) {
    let error = #expect(throws: ConfigurationError.self) { try Self.read(text) }
    #expect(error?.description == message)
  }

  @Test(arguments: ["127.0.0.1", "127.3.4.5", "localhost", "[::1]"])
  func `a webhook server that only this machine can reach needs no permission`(host: String) throws
  {
    _ = try Self.read("kind: webhook\nwebhook: {listen: '\(host):80', mapping: m}")
  }

  @Test(arguments: [
    "127.example.org", "127.0.0.1.example.org", "0.0.0.0", "10.0.0.1", "localhost.x",
  ])
  func `a webhook server for other machines requires allowRemote and a secret`(host: String) throws
  {
    let text = "kind: webhook\nwebhook: {listen: '\(host):80', mapping: m"
    #expect(throws: ConfigurationError.self) { try Self.read(text + "}") }
    let configuration = try Self.read(text + ", allowRemote: true}")
    #expect(throws: SourceError.self) { try configuration.webhookGate(credentials: nil) }
  }

  @Test func `an error in a mapping file is reported like an error in the configuration`() throws {
    let text = "kind: webhook\nwebhook: {listen: '127.0.0.1:80', mapping: \(directory)/m.yaml}"
    var configuration = try Self.read(text)
    #expect(throws: ConfigurationError.self) { try configuration.readMapping() }
    try "events: [{type: nothing}]".write(
      toFile: "\(directory)/m.yaml", atomically: true, encoding: .utf8)
    let error = #expect(throws: ConfigurationError.self) { try configuration.readMapping() }
    #expect(error?.description.hasPrefix("\(directory)/m.yaml:1: events[0].type: unknown ") == true)
    try "events: [{type: chat.clear}]".write(
      toFile: "\(directory)/m.yaml", atomically: true, encoding: .utf8)
    try configuration.readMapping()
    #expect(configuration.webhook.mapping != nil)
  }

  @Test
  func `a login passed by the service manager is renewed in the source's state directory`()
    throws
  {
    try FileManager.default.createDirectory(
      atPath: directory + "/state", withIntermediateDirectories: true)
    func hand(over token: String) throws {
      try "{\"accessToken\":\"\(token)\",\"refreshToken\":\"r\",\"clientId\":\"c\"}".write(
        toFile: directory + "/login", atomically: true, encoding: .utf8)
    }
    let configuration = try Self.read("kind: eventsub\ntwitch: {channels: [ada]}")
    func login() throws -> TwitchLogin? {
      try configuration.twitchLogin(credentials: directory, state: directory + "/state")
    }
    #expect(try login() == nil)
    // The file is empty, as by default in the unit.
    try "\n".write(toFile: directory + "/login", atomically: true, encoding: .utf8)
    #expect(try login() == nil)
    try hand(over: "one")
    var used = try #require(try login())
    #expect(used.token == Secret("one"))
    #expect(used.file == directory + "/state/twitch.json")
    let isTaken = used.store(["access_token": "two", "refresh_token": "r2"])
    #expect(isTaken)
    try used.save()
    #expect(try login()?.token == Secret("two"))
    #expect(try login()?.renewal == Secret("r2"))
    // The user has logged in again.
    try hand(over: "three")
    #expect(try login()?.token == Secret("three"))
    #expect(try login()?.token == Secret("three"))
    let mode = try FileManager.default.attributesOfItem(atPath: directory + "/state/twitch.json")
    #expect(mode[.posixPermissions] as? Int == 0o600)
  }

  @Test func `the commented default file contains every key with its default value`() throws {
    let text = SourceConfiguration.commentedDefaults
    for key in SourceConfiguration.keys {
      let name = key.path.split(separator: ".").last ?? ""
      #expect(text.contains("\(name): \(key.defaultValue)\n"), "\(key.path)")
      #expect(text.contains(key.summary))
    }
    let uncommented = text.split(separator: "\n")
      .map { $0.hasPrefix("#") ? String($0.dropFirst()) : String($0) }
      .filter { !$0.drop { $0 == " " }.hasPrefix("#") && !$0.hasPrefix(" Configuration") }
      .joined(separator: "\n").replacing("channels: []", with: "channels: [ada]")
    #expect(try Self.read(uncommented).twitch.channels == ["ada"])
  }

  @Test(arguments: WebhookMapping.presets)
  func `a webhook mapping can be chosen by the name of its sender`(name: String) throws {
    var configuration = try Self.read(
      "kind: webhook\nwebhook: {listen: '127.0.0.1:80', mapping: \(name)}")
    try configuration.readMapping()
    #expect(configuration.webhook.mapping != nil)
  }

  @Test
  func `a source started by hand searches for the daemon's sockets in the order of livehostctl`()
    throws
  {
    try FileManager.default.createDirectory(
      atPath: directory + "/livehost", withIntermediateDirectories: true)
    func find(_ environment: [String: String], ingest: String? = nil, control: String? = nil)
      -> [String]
    {
      let sockets = DaemonSockets.find(
        ingest: ingest, control: control, environment: environment, user: getuid())
      return [sockets.ingest, sockets.control]
    }
    let service = ["/run/livehost/ingest", "/run/livehost/io.livehost.Control"]
    let own = ["\(directory)/livehost/ingest", "\(directory)/livehost/io.livehost.Control"]
    let environment = ["XDG_RUNTIME_DIR": directory]
    #expect(find(environment) == service)
    for path in own { #expect(FileManager.default.createFile(atPath: path, contents: nil)) }
    #expect(find(environment) == own)
    #expect(find(["LIVEHOST_SOCKET": own[1]]) == own)
    #expect(find(["LIVEHOST_SOCKET": directory + "/livehost"]) == own)
    #expect(find([:], ingest: own[0]) == own)
    #expect(find([:], control: own[1]) == own)
    #expect(find(environment, ingest: "/x/ingest", control: "/y/c") == ["/x/ingest", "/y/c"])
  }
}

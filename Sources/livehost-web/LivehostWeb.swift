import ArgumentParser
import Glibc
import Logging
import WebService

@main
struct LivehostWeb: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "livehost-web",
    abstract: "The screens of livehostd as a page in the browser and in OBS.",
    discussion: """
      Stands between browsers and the control socket. Prints a link with a token that lets whoever has it \
      read and act; it is valid until this program ends.
      """)

  @Option(
    help: ArgumentHelp(
      "Port on the loopback address to listen on. 0 takes any free one.", valueName: "port"))
  var port = 8317

  @Option(
    help: ArgumentHelp(
      "Unix socket to listen on in place of a port, behind a proxy that browsers connect to.",
      valueName: "path"))
  var listen: String?

  @Option(help: ArgumentHelp("Control socket of livehostd.", valueName: "path"))
  var socket = "/run/livehost/io.livehost.Control"

  @Option(
    name: .customLong("host"),
    help: ArgumentHelp(
      "Further name under which browsers may ask for the page. May be given several times.",
      valueName: "name"))
  var hosts: [String] = []

  @Flag(help: "Print the links as a JSON object, on one line.") var json = false

  func validate() throws {
    guard (0...65_535).contains(port) else { throw ValidationError("--port is from 0 to 65535") }
  }

  func run() async throws {
    signal(SIGPIPE, SIG_IGN)
    var settings = WebServer.Settings(
      address: listen.map { .socket(path: $0) } ?? .loopback(port: port), controlSocket: socket)
    settings.hosts = hosts
    let tokens = settings.tokens
    var logger = Logger(label: "livehost-web")
    logger.logLevel = .warning
    try await WebServer(settings, logger: logger).run { port in
      let base = port == 0 ? "" : "http://127.0.0.1:\(port)"
      let overlay = "\(base)/overlay/chat?room=main&t=\(tokens.reading)"
      Self.write(
        json
          ? #"{"page":"\#(base)/#t=\#(tokens.acting)","overlay":"\#(overlay)"}"# + "\n"
          : """
          \(base)/#t=\(tokens.acting)
          for overlays, which only read: \(overlay)

          """)
    }
  }

  private static func write(_ text: String) {
    var text = text
    text.withUTF8 { _ = Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
  }
}

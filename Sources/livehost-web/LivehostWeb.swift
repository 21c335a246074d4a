import ArgumentParser
import ControlInterface
import Glibc
import Logging
import Systemd
import UnixSockets
import WebService

@main
struct LivehostWeb: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "livehost-web",
    abstract: "The screens of livehostd as a page in the browser and in OBS.",
    discussion: """
      Stands between browsers and the control socket. Prints a link with a token that lets whoever has it \
      read and act; it is valid until this program ends. A second link only reads, for overlays.
      """,
    version: "livehost-web \(livehostVersion)")

  @Option(
    help: ArgumentHelp(
      "Port on the loopback address to listen on. 0 takes any free one.", valueName: "port"))
  var port = 8317

  @Option(
    help: ArgumentHelp(
      "Unix socket to listen on in place of a port, behind a proxy that browsers connect to. Needs --url.",
      valueName: "path"), completion: .file())
  var listen: String?

  @Option(
    help: ArgumentHelp(
      "Address at which browsers reach the page, such as https://page.example. The links begin with it, and its name need not be given as --host.",
      valueName: "address"))
  var url: String?

  @Option(
    name: .customLong("host"),
    help: ArgumentHelp(
      "Further name under which browsers may ask for the page. May be given several times.",
      valueName: "name"))
  var hosts: [String] = []

  @Option(
    help: ArgumentHelp(
      "File to write the links to in place of printing them. Its group may read it.",
      valueName: "file"), completion: .file())
  var linkFile: String?

  @Option(
    help: ArgumentHelp(
      "File that keeps the token of overlays, so that their links stay valid. It is created if it is missing.",
      valueName: "file"), completion: .file())
  var overlayTokenFile: String?

  @Option(
    help: ArgumentHelp("Control socket of livehostd.", valueName: "path"), completion: .file())
  var socket = "/run/livehost/io.livehost.Control"

  @Option(
    help: ArgumentHelp(
      "How many pages and overlays may be open at once, from 1 to 10000.", valueName: "count"))
  var streams = WebServer.Limits().streams

  @Option(
    help: ArgumentHelp(
      "After how long a browser that does not read is cut off, from 1 to 3600.",
      valueName: "seconds"))
  var patience = 30

  @Option(
    help: ArgumentHelp(
      "Directory of the scenarios that the page offers to simulate. Default: config/scenarios in a directory above this program, then /usr/share/livehost/scenarios.",
      valueName: "directory"), completion: .directory)
  var scenarios: String?

  @Flag(help: "Print the links as a JSON object, on one line.") var json = false

  func validate() throws {
    guard (0...65_535).contains(port) else { throw ValidationError("--port is from 0 to 65535") }
    guard (1...10_000).contains(streams) else {
      throw ValidationError("--streams is from 1 to 10000")
    }
    guard (1...3600).contains(patience) else {
      throw ValidationError("--patience is from 1 to 3600 seconds")
    }
    guard listen == nil || url != nil else {
      throw ValidationError("--listen needs --url: the address that browsers know")
    }
    guard url == nil || publicAddress != nil else {
      throw ValidationError("--url is an address such as https://page.example, without a path")
    }
  }

  private var publicAddress: PublicAddress? { url.flatMap { PublicAddress($0) } }

  func run() async throws {
    signal(SIGPIPE, SIG_IGN)
    var settings = WebServer.Settings(
      address: listen.map { .socket(path: $0) } ?? .loopback(port: port), controlSocket: socket)
    settings.publicAddress = publicAddress
    settings.hosts = hosts
    settings.scenarios = scenarios ?? Self.bundledScenarios
    settings.limits.streams = streams
    settings.limits.connections = 2 * streams
    settings.limits.writeTimeout = .seconds(patience)
    if let overlayTokenFile {
      settings.tokens = Tokens(reading: try KeptToken.read(overlayTokenFile))
    }
    let tokens = settings.tokens
    var logger = Logger(label: "livehost-web")
    logger.logLevel = .warning
    try await WebServer(settings, logger: logger).run { [self] port in
      let base = publicAddress?.text ?? "http://127.0.0.1:\(port)"
      do {
        try announce(links(base, tokens))
        try ServiceNotifier().ready(status: base)
      } catch {
        Self.exit(withError: error)
      }
    }
  }

  private static var bundledScenarios: String? {
    var candidates: [String] = []
    var directory = realpath("/proc/self/exe", nil).map { path -> String in
      defer { free(path) }
      return String(cString: path)
    }
    while let current = directory, let slash = current.lastIndex(of: "/") {
      directory = String(current[..<slash])
      candidates.append("\(current[..<slash])/config/scenarios")
    }
    candidates.append("/usr/share/livehost/scenarios")
    return candidates.first { access($0, R_OK | X_OK) == 0 }
  }

  private func links(_ base: String, _ tokens: Tokens) -> String {
    let (page, overlay) = (
      "\(base)/#t=\(tokens.acting)", "\(base)/overlay/chat?room=main&t=\(tokens.reading)"
    )
    return json
      ? #"{"page":"\#(page)","overlay":"\#(overlay)"}"# + "\n"
      : "\(page)\nfor overlays, which only read: \(overlay)\n"
  }

  /// What a service prints would be in the journal, for more people than may have it.
  private func announce(_ links: String) throws {
    if let listen { try ListeningSocket.setMode(0o660, ofSocketAt: listen) }
    var descriptor = STDOUT_FILENO
    if let linkFile {
      unlink(linkFile)
      descriptor = open(linkFile, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      guard descriptor >= 0, fchmod(descriptor, 0o640) == 0 else {
        throw FileFailure(path: linkFile, code: errno)
      }
    }
    defer { if descriptor != STDOUT_FILENO { close(descriptor) } }
    var links = links
    links.withUTF8 { _ = Glibc.write(descriptor, $0.baseAddress, $0.count) }
  }
}

/// A file that this program makes, and cannot.
struct FileFailure: Error, CustomStringConvertible {
  let path: String
  let code: Int32

  var description: String { "\(path): \(String(cString: strerror(code)))" }
}

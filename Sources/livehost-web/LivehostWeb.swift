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
      Connects browsers to the control socket of livehostd. Prints a link with a token: anyone \
      with the link can read and act until this program ends. A second link is for overlays and \
      can only read.
      """,
    version: "livehost-web \(livehostVersion)")

  @Option(
    help: ArgumentHelp(
      "Port on the loopback address to listen on. 0 selects a free port.", valueName: "port"))
  var port = 8317

  @Option(
    help: ArgumentHelp(
      "Unix socket to listen on instead of a port, for a proxy that browsers connect to. "
        + "Needs --url.", valueName: "path"), completion: .file())
  var listen: String?

  @Option(
    help: ArgumentHelp(
      "Address at which browsers reach the page, such as https://page.example. The links begin "
        + "with this address, and its host need not be given as --host.", valueName: "address"))
  var url: String?

  @Option(
    name: .customLong("host"),
    help: ArgumentHelp(
      "An additional host name under which browsers may request the page. May be repeated.",
      valueName: "name"))
  var hosts: [String] = []

  @Option(
    help: ArgumentHelp(
      "File to write the links to instead of printing them. The file is readable by its group.",
      valueName: "file"), completion: .file())
  var linkFile: String?

  @Option(
    help: ArgumentHelp(
      "File with the token of overlays, so that their links stay valid. Created if missing.",
      valueName: "file"), completion: .file())
  var overlayTokenFile: String?

  @Option(
    help: ArgumentHelp("Control socket of livehostd.", valueName: "path"), completion: .file())
  var socket = "/run/livehost/io.livehost.Control"

  @Option(
    help: ArgumentHelp(
      "Maximum number of pages and overlays open at the same time, from 1 to 10000.",
      valueName: "count"))
  var streams = WebServer.Limits().streams

  @Option(
    help: ArgumentHelp(
      "Seconds after which a browser that does not read is disconnected, from 1 to 3600.",
      valueName: "seconds"))
  var patience = 30

  @Option(
    help: ArgumentHelp(
      "Directory of the scenarios that the page can simulate. Default: config/scenarios in a "
        + "directory above this program, then /usr/share/livehost/scenarios.",
      valueName: "directory"), completion: .directory)
  var scenarios: String?

  @Flag(help: "Print the links as a JSON object, on one line.") var json = false

  func validate() throws {
    guard (0...65_535).contains(port) else {
      throw ValidationError("--port must be from 0 to 65535")
    }
    guard (1...10_000).contains(streams) else {
      throw ValidationError("--streams must be from 1 to 10000")
    }
    guard (1...3600).contains(patience) else {
      throw ValidationError("--patience must be from 1 to 3600 seconds")
    }
    guard listen == nil || url != nil else {
      throw ValidationError("--listen requires --url, the address that browsers use")
    }
    guard url == nil || publicAddress != nil else {
      throw ValidationError(
        "--url must be an address such as https://page.example, without a path")
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
      settings.tokens = Tokens(reading: try TokenFile.read(overlayTokenFile))
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
      : "\(page)\nfor overlays, read-only: \(overlay)\n"
  }

  /// Prints the links, or writes them to the file. A service writes a file, because its output goes
  /// to the journal, which more users can read.
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

struct FileFailure: Error, CustomStringConvertible {
  let path: String
  let code: Int32

  var description: String { "\(path): \(String(cString: strerror(code)))" }
}

import ArgumentParser
import ControlInterface
import Glibc
import Logging
import Systemd
import UnixSockets
import WebService

/// Serves the page.
struct RunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Serve the page (the default).",
    discussion: """
      Prints a link with a token: anyone with the link can read and act until this program ends. A \
      second link is for overlays and can only read.
      """)

  @Option(
    help: ArgumentHelp(
      "IP address of this machine to listen on. Addresses that other machines can reach require "
        + "--certificate and --key.", valueName: "address"))
  var address = "127.0.0.1"

  @Option(
    help: ArgumentHelp(
      "Port to listen on. 0 selects a free port.", valueName: "port"))
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
    help: ArgumentHelp(
      "File of the people with personal links, as written by 'livehostctl web people'. Default for "
        + "root: /var/lib/livehost-web/people; for other users: livehost/people in the user's "
        + "state directory.", valueName: "file"), completion: .file())
  var people: String?

  @Option(
    help: ArgumentHelp(
      "PEM file with the certificate of the page and its intermediate certificates, for TLS. "
        + "Default: the systemd credential 'certificate', if there is one.", valueName: "file"),
    completion: .file())
  var certificate: String?

  @Option(
    help: ArgumentHelp(
      "PEM file with the certificate's private key. Default: the systemd credential 'key', if "
        + "there is one. SIGHUP reads both files again.", valueName: "file"),
    completion: .file())
  var key: String?

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
    guard (certificate == nil) == (key == nil) else {
      throw ValidationError("--certificate and --key must be given together")
    }
    guard certificatePaths == nil || url?.hasPrefix("http://") != true else {
      throw ValidationError("--url must begin with https://, because a certificate is given")
    }
    if listen == nil { try validateAddress() }
  }

  private func validateAddress() throws {
    guard let address = ListenAddress(address) else {
      throw ValidationError("--address must be an IP address, such as 127.0.0.1")
    }
    guard address.isLoopback || certificatePaths != nil else {
      throw ValidationError(
        "other machines can reach --address \(self.address), and without TLS, others in the network "
          + "can read the links; give --certificate and --key, or listen on 127.0.0.1 behind a "
          + "proxy with TLS")
    }
    guard !address.isWildcard || url != nil else {
      throw ValidationError(
        "--address \(self.address) requires --url, the address that browsers use")
    }
  }

  private var publicAddress: PublicAddress? { url.flatMap { PublicAddress($0) } }

  /// The paths of the certificate and its key: from the options, or from systemd's credentials.
  private var certificatePaths: (certificate: String, key: String)? {
    if let certificate, let key { return (certificate, key) }
    guard let directory = getenv("CREDENTIALS_DIRECTORY").map({ String(cString: $0) }),
      access("\(directory)/certificate", F_OK) == 0, access("\(directory)/key", F_OK) == 0
    else { return nil }
    return ("\(directory)/certificate", "\(directory)/key")
  }

  func run() async throws {
    signal(SIGPIPE, SIG_IGN)
    var logger = Logger(label: "livehost-web")
    logger.logLevel = .warning
    var settings = WebServer.Settings(
      address: listen.map { .socket(path: $0) } ?? .host(address, port: port),
      controlSocket: socket)
    settings.publicAddress = publicAddress
    settings.hosts = hosts + (listen == nil ? ListenAddress(address)?.hosts ?? [] : [])
    settings.scenarios = scenarios ?? Self.bundledScenarios
    settings.limits.streams = streams
    settings.limits.connections = 2 * streams
    settings.limits.writeTimeout = .seconds(patience)
    if let overlayTokenFile {
      settings.tokens = Tokens(reading: try TokenFile.read(overlayTokenFile))
    }
    settings.people = CurrentPeople(PeopleFile(path: people ?? PeopleFile.defaultPath())) {
      [logger] in logger.error("nobody with a personal link has access: \($0)")
    }
    if let (certificate, key) = certificatePaths {
      settings.certificate = try PageCertificate(certificate: certificate, key: key)
    }
    let tokens = settings.tokens
    let scheme = settings.certificate == nil ? "http" : "https"
    try await WebServer(settings, logger: logger).run { [self] port in
      let host = ListenAddress(address)?.host ?? address
      let base = publicAddress?.text ?? "\(scheme)://\(host):\(port)"
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
    let links = PageLinks(base: base, tokens)
    return json ? links.json : links.text
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

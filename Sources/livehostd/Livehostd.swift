public import ArgumentParser
import CoreMetrics
import Glibc
import LivehostDaemon
public import Logging
import Prometheus
import Rooms
import Systemd
import YAMLReader

@main
struct Livehostd: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "livehostd", abstract: "The host screen of a live stream, as a service.",
    discussion: """
      Receives the events of live streams on its ingest socket, runs the screen of each room, and \
      answers calls on its control socket; livehostctl is the client. Needs no configuration.
      """,
    version: Daemon.version)

  @Option(
    help: ArgumentHelp(
      "Configuration file to read instead of those under /usr/lib, /run and /etc.",
      valueName: "file"))
  var config: String?

  @Option(
    name: .customLong("runtime-dir"),
    help: ArgumentHelp(
      "Directory of the sockets. Default: $XDG_RUNTIME_DIR/livehost, or else /tmp/livehost-UID.",
      valueName: "dir"))
  var runtimeDirectory: String?

  @Option(
    name: .customLong("state-dir"),
    help: ArgumentHelp(
      "Directory of recordings and state. Default: $XDG_STATE_HOME/livehost, or else "
        + "~/.local/state/livehost.",
      valueName: "dir"))
  var stateDirectory: String?

  @Option(
    help: "Least severe messages to log: trace, debug, info, notice, warning, error, critical.")
  var logLevel: Logger.Level?

  @Flag(help: "Check the configuration and exit: with 0 if it is valid, with 78 otherwise.")
  var checkConfig = false

  @Flag(help: "Print the commented default configuration and exit.")
  var printDefaultConfig = false

  func run() async throws {
    if printDefaultConfig {
      Self.write(Configuration.commentedDefaults, to: STDOUT_FILENO)
      return
    }
    // The handler is installed before the configuration is read. A SIGHUP that follows a change
    // made after reading is therefore not missed.
    EarlySignals.record(SIGHUP)
    let configuration: Configuration
    do {
      configuration = try Self.loadConfiguration(config)
    } catch {
      Self.refuse(error, checking: checkConfig)
      throw ExitCode(78)
    }
    if checkConfig {
      Self.complain("the configuration is valid; \(configuration.memoryText)")
      return
    }
    let log: ServiceLog
    do {
      log = try ServiceLog(
        identifier: "livehostd", level: logLevel ?? configuration.logLevel,
        limits: FaultInjection.journalLimits())
    } catch {
      Self.complain("the log cannot be opened: \(error)")
      throw ExitCode(1)
    }
    LoggingSystem.bootstrap { log.handler(label: $0) }
    let registry = MetricRegistry()
    MetricsSystem.bootstrap(registry)
    // If a peer has disconnected, a write must fail instead of ending the daemon with a signal.
    signal(SIGPIPE, SIG_IGN)
    defer { log.close(timeoutNanoseconds: 2_000_000_000) }
    try await serve(configuration, log, registry)
  }

  private func serve(
    _ configuration: Configuration, _ log: ServiceLog, _ registry: MetricRegistry
  ) async throws {
    // The handlers are installed before the sockets accept, because a client that can connect may
    // stop the daemon immediately.
    EarlySignals.record(SIGTERM, SIGINT)
    let logger = Logger(label: "livehostd")
    let daemon = Daemon(
      configuration: configuration,
      paths: RuntimePaths(runtimeDirectory: runtimeDirectory, stateDirectory: stateDirectory),
      logger: logger, logLevel: log.level, registry: registry,
      lostEntries: { Int(clamping: log.lost.entries) }, pingJournal: log.ping,
      readConfiguration: { [config, logLevel] () throws(ConfigurationError) in
        var configuration = try Self.loadConfiguration(config)
        // The command-line option takes precedence over the configuration file.
        if let logLevel { configuration.logLevel = logLevel }
        return configuration
      })
    do {
      try await daemon.run()
    } catch let error as DaemonError {
      logger.critical("\(error)")
      throw ExitCode(1)
    }
  }

  private static func loadConfiguration(
    _ config: String?
  ) throws(ConfigurationError) -> Configuration {
    var configuration = Configuration()
    if let config { try configuration.read(file: config) } else { configuration = try .load() }
    try configuration.validate(file: config ?? "livehostd.yaml")
    return configuration
  }

  /// Reports why the daemon does not start: as a journal entry or, if standard error is not the
  /// journal, as a line.
  private static func refuse(_ error: ConfigurationError, checking: Bool) {
    if !checking, let log = try? ServiceLog(identifier: "livehostd", level: .info),
      log.destination == .journal
    {
      Logger(label: "livehostd") { log.handler(label: $0) }.log(
        .configurationError, "the configuration is invalid: \(error)",
        metadata: error.journalFields)
      if log.close(timeoutNanoseconds: 2_000_000_000) { return }
    }
    complain(error.description)
  }

  private static func complain(_ message: String) {
    write("livehostd: \(message)\n", to: STDERR_FILENO)
  }

  private static func write(_ text: String, to descriptor: Int32) {
    var text = text
    text.withUTF8 { _ = Glibc.write(descriptor, $0.baseAddress, $0.count) }
  }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}

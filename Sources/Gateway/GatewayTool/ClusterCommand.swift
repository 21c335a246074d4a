import ArgumentParser
import ControlInterface
import Gateway
import Glibc
import JSON
import Varlink
import YAMLReader

struct RunNodeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Run a node of a cluster (the default).")

  @Option(
    help: ArgumentHelp(
      "Configuration file; default: /etc/livehost/gateway.yaml, if it exists.", valueName: "file"))
  var config: String?
  @Flag(help: "Check the configuration and exit: 0 if it is valid, 78 if not.")
  var checkConfig = false
  @Flag(help: "Print the commented default configuration and exit.")
  var printDefaultConfig = false

  private static let defaultFile = "/etc/livehost/gateway.yaml"

  func run() async throws {
    if printDefaultConfig {
      return GatewayProgram.write(GatewayConfiguration.commentedDefaults, to: STDOUT_FILENO)
    }
    var configuration = GatewayConfiguration()
    do {
      if let file = config ?? (access(Self.defaultFile, F_OK) == 0 ? Self.defaultFile : nil) {
        configuration = try GatewayConfiguration(file: file)
      }
    } catch {
      throw GatewayError.configuration(error.description)
    }
    do { try configuration.checkFiles() } catch {
      throw GatewayError.configuration(error.description)
    }
    if checkConfig { return GatewayProgram.report("the configuration is fine") }
    signal(SIGPIPE, SIG_IGN)
    try await GatewayRun(configuration).run()
  }
}

struct StatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show the status and the problems of a node.",
    discussion: "Exit codes: 0 no problems; 1 problems; 69 no gateway answers.")

  @OptionGroup var gateway: GatewayOptions
  @Flag(name: .customLong("json"), help: "Print a JSON object.") var json = false

  func run() async throws {
    let status: GatewayStatus = try await gateway.call("GetStatus", NoParameters())
    if json {
      GatewayProgram.write(
        String(decoding: try JSONValue(encoding: status).serialized(), as: UTF8.self) + "\n",
        to: STDOUT_FILENO)
    } else {
      GatewayProgram.write(
        """
        node        \(status.node), with \(status.partitions) of \(Partition.count) partitions
        nodes       \(Self.nodes(of: status))
        log         \(status.stored) messages stored, \(status.repeated) sent again, \
        \(status.waitingBytes) bytes waiting
        livehostd   \(status.fed) batches, \(status.duplicates) duplicates, \
        \(status.feedingBytes) bytes waiting
        \(status.problems.isEmpty ? "all is well" : status.problems.joined(separator: "\n"))

        """, to: STDOUT_FILENO)
    }
    if !status.problems.isEmpty { throw ExitCode(1) }
  }

  private static func nodes(of status: GatewayStatus) -> String {
    Set(status.nodes).union(status.idle).sorted()
      .map { status.idle.contains($0) ? "\($0) (takes no rooms)" : $0 }
      .joined(separator: ", ")
  }
}

struct RoomsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rooms", abstract: "List the rooms of the cluster, each with its node.")

  @OptionGroup var gateway: GatewayOptions

  func run() async throws {
    let client = try await gateway.connect()
    do {
      let rooms = try await ControlClient(client).listRooms().rooms
      for room in rooms {
        let owner: OwnerReply = try await client.call(
          "\(GatewayInterface.name).GetOwner", OwnerParameters(room: room.room))
        GatewayProgram.write("\(room.room)  \(owner.node ?? "-")\n", to: STDOUT_FILENO)
      }
    } catch { throw GatewayError.unavailable("\(gateway.socket): \(error)") }
  }
}

struct GatewayOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Control socket of the gateway.", valueName: "path"))
  var socket = GatewayConfiguration().listen

  func connect() async throws(GatewayError) -> VarlinkClient {
    do { return try await VarlinkClient.connect(path: socket) } catch {
      throw .unavailable("no gateway answers at \(socket)")
    }
  }

  func call<Reply: Decodable>(
    _ method: String, _ parameters: some Encodable
  ) async throws(GatewayError) -> Reply {
    let client = try await connect()
    do {
      return try await client.call("\(GatewayInterface.name).\(method)", parameters)
    } catch { throw .unavailable("\(socket): \(error)") }
  }
}

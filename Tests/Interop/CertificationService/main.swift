import Glibc
import NIOPosix
import UnixSockets
import Varlink

/// `CertificationService [--client] PATH` serves `org.varlink.certification` on a Unix socket until
/// it is killed. With `--client` it calls the service on that socket instead.
let arguments = Array(CommandLine.arguments.dropFirst())
guard let path = arguments.last, arguments.count == 1 || arguments == ["--client", path] else {
  print("usage: CertificationService [--client] PATH")
  exit(64)
}

do {
  if arguments.count == 2 {
    let client = try await VarlinkClient.connect(path: path)
    let isCertified = try await CertificationClient(client: client).run()
    print(isCertified ? "Certification passed" : "Certification failed")
    exit(isCertified ? 0 : 1)
  }
  let server = try await VarlinkServer.start(
    on: .bind(path: path, mode: 0o666),
    information: ServiceInformation(
      vendor: "livehost", product: "CertificationService", version: "1",
      url: "https://varlink.org"),
    interfaces: [try CertificationService().interface()],
    group: MultiThreadedEventLoopGroup.singleton)
  print("Listening on \(path)")
  let forever = AsyncStream<Never> { _ in }
  for await _ in forever {}
  await server.shutdown()
} catch {
  print("\(error)")
  exit(1)
}

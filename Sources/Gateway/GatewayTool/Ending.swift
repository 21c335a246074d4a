import Dispatch
import Glibc

/// The signals that end the program.
final class Ending {
  let signals: AsyncStream<Void>
  private let sources: [any DispatchSourceSignal]

  init() {
    let (signals, continuation) = AsyncStream.makeStream(of: Void.self)
    self.signals = signals
    let queue = DispatchQueue(label: "signals")
    sources = [SIGINT, SIGTERM, SIGHUP].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler { continuation.yield() }
      source.activate()
      return source
    }
  }

  deinit { for source in sources { source.cancel() } }

  /// Returns once the program is asked to end.
  func wait() async { for await _ in signals { return } }
}

/// A directory for sockets that only this process uses.
struct PrivateDirectory {
  let path: String

  init() throws(GatewayError) {
    let base = getenv("RUNTIME_DIRECTORY").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(base)/livehost-gateway-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw .notPermitted("\(base): \(String(cString: strerror(errno)))")
    }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  func remove() {
    for name in ["origin", "relay"] { unlink("\(path)/\(name)") }
    rmdir(path)
  }
}

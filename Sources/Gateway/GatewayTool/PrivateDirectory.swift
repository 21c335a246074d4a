import Glibc

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

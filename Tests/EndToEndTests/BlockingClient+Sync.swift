import Foundation
import SocketTestSupport

extension BlockingClient {
  /// Sends a text. Throws ``SocketFailure`` if the daemon has closed the connection.
  func write(_ text: String) throws { try write(Array(text.utf8)) }

  func write(_ bytes: [UInt8]) throws {
    guard send(bytes) else { throw SocketFailure(call: "send") }
  }

  /// Sends a `sync` line and returns the acknowledgement.
  func sync(_ token: String = "t") throws -> [String: Any]? {
    try write("{\"type\":\"sync\",\"token\":\"\(token)\"}\n")
    guard let line = readLine() else { return nil }
    return try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
  }
}

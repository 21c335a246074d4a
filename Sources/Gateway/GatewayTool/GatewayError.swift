/// The reason why the program ends, and the program's exit code.
package struct GatewayError: Error, Equatable, CustomStringConvertible {
  package var exitCode: Int32
  package var description: String

  package init(_ exitCode: Int32, _ description: String) {
    (self.exitCode, self.description) = (exitCode, description)
  }

  static func unavailable(_ text: String) -> GatewayError { GatewayError(69, text) }
  static func notPermitted(_ text: String) -> GatewayError { GatewayError(77, text) }
  static func configuration(_ text: String) -> GatewayError { GatewayError(78, text) }
}

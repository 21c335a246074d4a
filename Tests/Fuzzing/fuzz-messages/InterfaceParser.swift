import FuzzSupport
import VarlinkDescription

/// Reads Varlink interface definitions.
final class InterfaceParser: Parser {
  func read(_ bytes: UnsafeBufferPointer<UInt8>) {
    let text = String(decoding: bytes, as: UTF8.self)
    let lines = text.utf8.count { $0 == UInt8(ascii: "\n") } + 1
    do {
      let description = try InterfaceDescription(parsing: text)
      check("an interface keeps its text", description.text == text)
      for name in description.typeNames + description.methodNames + description.errorNames {
        check("a member can be found by its name", description.member(name)?.name == name)
      }
      for violation in description.systemdViolations { checkPosition(of: violation, lines) }
    } catch {
      checkPosition(of: error, lines)
    }
  }

  private func checkPosition(of error: DescriptionError, _ lines: Int) {
    check("an error's line is in the text", (1...lines).contains(error.line))
    check("an error has a column", (1...).contains(error.column))
  }
}

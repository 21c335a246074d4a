import ArgumentParser
import Glibc
import JSON
import WebService

/// The output of the commands that print a result and end.
struct CommandOutput: ParsableArguments {
  @Flag(help: "Print JSON.") var json = false

  func print(_ value: JSONValue, _ text: String) {
    Self.write(
      json ? String(decoding: value.serialized(), as: UTF8.self) + "\n" : text, STDOUT_FILENO)
  }

  /// Returns a link as a QR code, or the reason why there is none. A missing code is not an error,
  /// because the link itself must be printed: a personal link is stored nowhere.
  static func code(_ link: String) -> String {
    do throws(QRCode.TooLong) {
      return try QRCode(link).terminalText
    } catch {
      return "\(error)\n"
    }
  }

  /// Calls `body`. If it fails, prints the reason in the form of `livehostctl`, and ends the
  /// program.
  func reporting(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch {
      let failure = error as? PrivateFileFailure
      let isPermitted = failure?.code != EACCES && failure?.code != EPERM
      let (status, kind): (Int32, String) =
        switch error {
        case InvitedPeople.Fault.invalidName, InvitedPeople.Fault.expired: (64, "usage")
        default: isPermitted ? (1, "failed") : (77, "notPermitted")
        }
      if json {
        let report: JSONValue = [
          "error": [
            "kind": .string(kind), "message": .string("\(error)"),
            "exitCode": .integer(Int64(status)),
          ]
        ]
        Self.write(String(decoding: report.serialized(), as: UTF8.self) + "\n", STDOUT_FILENO)
      }
      Self.write("livehost-web: \(error)\n", STDERR_FILENO)
      throw ExitCode(status)
    }
  }

  private static func write(_ text: String, _ descriptor: Int32) {
    var text = text
    text.withUTF8 { _ = Glibc.write(descriptor, $0.baseAddress, $0.count) }
  }
}

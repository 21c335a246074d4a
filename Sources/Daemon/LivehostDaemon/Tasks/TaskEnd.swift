package import ControlInterface
import JSON
import Logging
import Systemd
import Varlink

/// How a task ended, and how long it ran.
package struct TaskEnd: Sendable {
  package enum Result: Sendable, Equatable {
    case done
    case cancelled
    /// The task failed, for a reason given as text for people.
    case failed(String)
  }

  package let task: String
  package let kind: TaskKind
  /// The name of the recording or room on which the task ran.
  package let subject: String
  package let nanoseconds: UInt64
  package let result: Result

  static func reason(_ error: any Error) -> String {
    guard let error = error as? ControlError else { return "\(error)" }
    let name = error.varlinkError.name.split(separator: ".").last.map(String.init) ?? ""
    let details = error.varlinkError.parameters.sorted { $0.key < $1.key }
      .map { "\($0.key) \($0.value)" }
    return details.isEmpty ? name : "\(name) (\(details.joined(separator: ", ")))"
  }

  func log(to logger: Logger) {
    let text =
      switch result {
      case .done: "done"
      case .cancelled: "cancelled"
      case .failed(let reason): "failed: \(reason)"
      }
    logger.log(
      .taskFinished,
      "task \(task) on \(subject) ended after \(nanoseconds / 1_000_000) ms: \(text)",
      metadata: [
        "task": "\(task)", "kind": "\(kind.rawValue)", "subject": "\(subject)",
        "durationUsec": "\(nanoseconds / 1_000)", "result": "\(text)",
      ])
  }
}

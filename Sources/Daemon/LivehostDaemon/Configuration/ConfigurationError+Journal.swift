package import Logging

extension ConfigurationError {
  /// What the journal tells of it besides the message.
  package var journalFields: Logger.Metadata {
    var fields: Logger.Metadata = ["file": "\(file)", "reason": "\(message)"]
    fields["line"] = line.map { "\($0)" }
    fields["key"] = key.map { "\($0)" }
    return fields
  }
}

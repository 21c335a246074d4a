package import Logging
package import YAMLReader

extension ConfigurationError {
  /// What the journal entry has besides the message.
  package var journalFields: Logger.Metadata {
    var fields: Logger.Metadata = ["file": "\(file)", "reason": "\(message)"]
    fields["line"] = line.map { "\($0)" }
    fields["key"] = key.map { "\($0)" }
    return fields
  }
}

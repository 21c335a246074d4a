package import Logging
package import YAMLReader

extension ConfigurationError {
  /// The fields that the error adds to its journal entry.
  package var journalFields: Logger.Metadata {
    var fields: Logger.Metadata = ["file": "\(file)", "reason": "\(message)"]
    fields["line"] = line.map { "\($0)" }
    fields["key"] = key.map { "\($0)" }
    return fields
  }
}

import JSON

/// The lines at the start and the end of a batch, without line endings.
package enum BatchLine {
  /// Returns the first line of a batch, with the source's session and the batch number.
  package static func position(session: String, sequence: Int) -> [UInt8] {
    JSONWriter.object(type: "position") {
      $0.add("source", session)
      $0.add("sequence", sequence)
    }
  }

  /// Returns the last line of a batch. The daemon answers this line when the batch is applied and
  /// saved.
  package static func sync(token: String) -> [UInt8] {
    JSONWriter.object(type: "sync") { $0.add("token", token) }
  }
}

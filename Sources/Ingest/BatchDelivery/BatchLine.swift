import JSON

/// The lines around a batch, without their ends.
package enum BatchLine {
  /// Heads a batch of a session of a source.
  package static func position(session: String, sequence: Int) -> [UInt8] {
    JSONWriter.object(type: "position") {
      $0.add("source", session)
      $0.add("sequence", sequence)
    }
  }

  /// Ends a batch, and is answered once the batch has been applied and saved.
  package static func sync(token: String) -> [UInt8] {
    JSONWriter.object(type: "sync") { $0.add("token", token) }
  }
}

import JSON

/// The lines around a batch, without their ends.
package enum BatchLine {
  /// Heads a batch of a session of a source.
  package static func position(session: String, sequence: Int) -> [UInt8] {
    line("position") {
      $0.add("source", session)
      $0.add("sequence", sequence)
    }
  }

  /// Ends a batch, and is answered once the batch has been applied and saved.
  package static func sync(token: String) -> [UInt8] {
    line("sync") { $0.add("token", token) }
  }

  private static func line(_ type: String, _ body: (inout JSONWriter) -> Void) -> [UInt8] {
    var writer = JSONWriter()
    writer.appendObject {
      $0.add("type", type)
      body(&$0)
    }
    return writer.bytes
  }
}

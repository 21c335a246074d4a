/// One key of a program's configuration file: its name, its meaning, and how it is read.
package struct FileKey<Target: FileConfiguration>: Sendable {
  package typealias Field<Value> = any WritableKeyPath<Target, Value> & Sendable

  /// The path with dots, such as `rooms.maximum`.
  package let path: String
  /// The meaning, in one sentence.
  package let summary: String
  /// The default value as written in the file, or an example after `#`.
  package let defaultValue: String
  package let read: @Sendable (YAMLNode, inout Target) throws(ConfigurationError) -> Void

  package init(
    path: String, summary: String, defaultValue: String,
    read: @escaping @Sendable (YAMLNode, inout Target) throws(ConfigurationError) -> Void
  ) {
    (self.path, self.summary, self.defaultValue, self.read) = (path, summary, defaultValue, read)
  }

  /// Returns a key whose value is read into a field.
  ///
  /// - Parameter defaultValue: The default value as written in the file.
  package static func value<Value>(
    _ path: String, _ summary: String, _ field: Field<Value>, default defaultValue: String = "\"\"",
    read: @escaping @Sendable (YAMLNode) throws(ConfigurationError) -> Value
  ) -> FileKey {
    FileKey(path: path, summary: summary, defaultValue: defaultValue) {
      node, target throws(ConfigurationError) in
      target[keyPath: field] = try read(node)
    }
  }

  package static func boolean(_ path: String, _ summary: String, _ field: Field<Bool>) -> FileKey {
    value(path, summary, field, default: "\(Target()[keyPath: field])") {
      node throws(ConfigurationError) in try node.boolean()
    }
  }

  package static func integer(
    _ path: String, _ summary: String, _ field: Field<Int>, in range: ClosedRange<Int>
  ) -> FileKey {
    value(path, summary, field, default: "\(Target()[keyPath: field])") {
      node throws(ConfigurationError) in try node.integer(in: range)
    }
  }

  /// Returns a key whose value is any text, including an empty one.
  package static func text(_ path: String, _ summary: String, _ field: Field<String>) -> FileKey {
    let text = Target()[keyPath: field]
    return value(path, summary, field, default: text.isEmpty ? "\"\"" : text) {
      node throws(ConfigurationError) in
      guard let text = node.scalar else { throw node.problem("expected text") }
      return text
    }
  }

  /// Returns a key whose value is a text; an empty text means `nil`.
  package static func optionalText(
    _ path: String, _ summary: String, _ field: Field<String?>
  ) -> FileKey {
    value(path, summary, field) { $0.filled }
  }
}

extension YAMLNode {
  /// The text, or `nil` if it is empty.
  package var filled: String? { scalar.flatMap { $0.isEmpty ? nil : $0 } }
}

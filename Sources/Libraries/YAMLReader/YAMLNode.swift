package import RateLimiting
import Wording
import Yams

/// One value of a YAML file with its position: the file, the line and the key.
package struct YAMLNode {
  /// The file, or the option with which the value was given.
  package let file: String
  /// The path of keys to the value, such as `events[2].rate`; `nil` for the whole file.
  package let key: String?
  private let node: Node
  private let keyLine: Int?

  init(_ node: Node, file: String, key: String?, keyLine: Int?) {
    self.node = node
    self.file = file
    self.key = key
    self.keyLine = keyLine
  }

  /// Parses a file. Fails if the file is empty.
  package init?(parsing text: String, file: String) throws(ConfigurationError) {
    guard YAMLSyntax.mayBeExpanded(text) else {
      throw ConfigurationError(
        file: file,
        message:
          "has more than \(YAMLSyntax.maximumAliases) aliases (*name); write out their values")
    }
    guard text.hasShortMarkRuns else {
      throw ConfigurationError(
        file: file, message: "has more combining marks in a row than any language; remove them")
    }
    let root: Node?
    do {
      root = try Yams.compose(yaml: text)
    } catch let error as YamlError {
      throw YAMLSyntax(text).error(error, file: file)
    } catch {
      throw ConfigurationError(file: file, message: "\(error); write YAML 1.1")
    }
    guard let root, root.null == nil else { return nil }
    self.init(root, file: file, key: nil, keyLine: nil)
  }

  /// Makes a node for a value that was given with an option.
  package init(_ value: String, option: String, key: String? = nil) {
    self.init(Node.scalar(.init(value)), file: option, key: key, keyLine: nil)
  }

  /// The content of the value.
  package enum Content {
    /// A single value, and whether it was written without quotes.
    case scalar(String, isPlain: Bool)
    case list([YAMLNode])
    case mapping([(name: String, value: YAMLNode)])
  }

  /// - Complexity: O(number of elements).
  package var content: Content {
    switch node {
    case .scalar(let scalar): .scalar(scalar.string, isPlain: scalar.style == .plain)
    case .sequence(let elements):
      .list(
        elements.enumerated().map { index, element in
          YAMLNode(element, file: file, key: "\(key ?? "")[\(index)]", keyLine: line)
        })
    case .mapping(let mapping):
      .mapping(
        mapping.map { name, value in
          let name = (text: name.string ?? "?", line: name.mark?.line)
          let path = key.map { "\($0).\(name.text)" } ?? name.text
          return (name.text, YAMLNode(value, file: file, key: path, keyLine: name.line))
        })
    // Aliases are resolved when a file is parsed.
    case .alias: .scalar("", isPlain: true)
    }
  }

  // MARK: Errors

  private var line: Int? { node.mark?.line ?? keyLine }

  /// Returns an error about the value.
  package func problem(_ message: String) -> ConfigurationError {
    ConfigurationError(file: file, line: line, key: key, message: message)
  }

  /// Returns an error about the key rather than its value, which may be on a later line.
  package func keyProblem(_ message: String) -> ConfigurationError {
    ConfigurationError(file: file, line: keyLine ?? line, key: key, message: message)
  }

  private func expected(_ expectation: String, hint: String = "") -> ConfigurationError {
    let written = scalar.map { $0.isEmpty ? "" : ", not '\($0)'" } ?? ""
    return problem("expected \(expectation)\(written)\(hint)")
  }

  // MARK: Values

  /// The text of a single value as written; `nil` for a list or a mapping.
  package var scalar: String? { node.scalar?.string }

  /// Returns the text of a single value, which must not be empty.
  package func text() throws(ConfigurationError) -> String {
    guard let text = scalar else { throw problem("expected a single value") }
    guard !text.isEmpty else { throw problem("has no value") }
    return text
  }

  /// - Parameter word: An alternative value, used only in the message.
  package func integer(
    in range: ClosedRange<Int>, or word: String? = nil
  ) throws(ConfigurationError) -> Int {
    guard let value = node.int, range.contains(value) else {
      let bounds =
        range.upperBound == .max
        ? "of \(range.lowerBound) or more" : "from \(range.lowerBound) to \(range.upperBound)"
      throw expected("a whole number \(bounds)" + (word.map { " or \($0)" } ?? ""))
    }
    return value
  }

  package func boolean() throws(ConfigurationError) -> Bool {
    guard let value = node.bool else { throw expected("true or false") }
    return value
  }

  /// Returns a duration such as `250ms`, `0.5s` or `10m`. `positive` rejects zero. `word` is a word
  /// that is accepted in place of a duration, with the duration that it stands for. The error for a
  /// number without a unit suggests `unit`.
  package func interval(
    positive: Bool = false, or word: (name: String, value: Interval)? = nil, unit: String = "s"
  ) throws(ConfigurationError) -> Interval {
    if let word, scalar == word.name { return word.value }
    guard let text = scalar, let nanoseconds = Quantity.nanoseconds(text) else {
      let hint = scalar.flatMap(Int.init).map { "; did you mean '\($0)\(unit)'?" } ?? ""
      let examples = word.map { "250ms, 0.5s, 10m or \($0.name)" } ?? "250ms, 0.5s or 10m"
      throw expected("a time such as \(examples)", hint: hint)
    }
    if nanoseconds > Self.longest { throw problem("is longer than 100 days") }
    if positive, nanoseconds == 0 { throw problem("must be longer than zero") }
    return Interval(nanoseconds: nanoseconds)
  }

  /// The longest duration, so that sums of durations cannot overflow.
  private static let longest: Int64 = 100 * 86_400 * 1_000_000_000

  /// Returns the value for one of a few words.
  package func choice<Value>(
    _ choices: [(name: String, value: Value)]
  ) throws(ConfigurationError) -> Value {
    let text = try text()
    for choice in choices where choice.name == text { return choice.value }
    throw problem("there is no '\(text)'\(Spelling.hint(for: text, among: choices.map(\.name)))")
  }

  /// Returns the elements of a list. With `orOne`, a single value is a list of one element.
  package func list(orOne: Bool = false) throws(ConfigurationError) -> [YAMLNode] {
    switch content {
    case .list(let elements): return elements
    case .scalar where orOne: return [self]
    case .scalar, .mapping: throw problem("expected a list")
    }
  }
}

extension String {
  /// The first two visible scalars; fewer if the text has fewer.
  ///
  /// A chat executes a text that begins like a command. Before the comparison, it may remove spaces
  /// and invisible characters: JavaScript's `trim()`, for example, removes a byte order mark.
  /// Scalars are returned instead of characters, since `/` and a combining mark are one character.
  package var visibleStart: [Unicode.Scalar] {
    Array(unicodeScalars.lazy.filter(\.isVisible).prefix(2))
  }
}

extension Unicode.Scalar {
  fileprivate var isVisible: Bool {
    if properties.isWhitespace || properties.isDefaultIgnorableCodePoint { return false }
    return switch properties.generalCategory {
    case .control, .format, .nonspacingMark, .spacingMark, .enclosingMark, .unassigned,
      .lineSeparator, .paragraphSeparator, .spaceSeparator, .surrogate:
      false
    default: true
    }
  }
}

import JSON

extension JSONParseError {
  /// A description of the error that includes its position. The first byte has the number 1.
  package var explanation: String {
    let problem =
      switch reason {
      case .unexpectedEnd: "unexpected end"
      case .unexpectedByte: "unexpected character"
      case .trailingBytes: "unexpected text after the end of the value"
      case .tooDeep: "values are nested too deeply"
      case .duplicateMember: "duplicate member"
      case .invalidUTF8: "invalid UTF-8"
      case .invalidEscape: "invalid escape"
      case .numberOutOfRange: "number out of range"
      case .nameTooLong: "name too long"
      case .tooManyMembers: "too many members"
      }
    return "\(problem) at byte \(offset + 1)"
  }
}

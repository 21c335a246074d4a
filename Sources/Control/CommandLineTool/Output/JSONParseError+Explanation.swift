import JSON

extension JSONParseError {
  /// What is wrong and where, for people, who count bytes from one.
  package var explanation: String {
    let problem =
      switch reason {
      case .unexpectedEnd: "it ends too early"
      case .unexpectedByte: "unexpected character"
      case .trailingBytes: "something follows its end"
      case .tooDeep: "it is nested too deeply"
      case .duplicateMember: "a member is there twice"
      case .invalidUTF8: "invalid UTF-8"
      case .invalidEscape: "invalid escape"
      case .numberOutOfRange: "a number is out of range"
      case .nameTooLong: "a name is too long"
      case .tooManyMembers: "it has too many members"
      }
    return "\(problem) at byte \(offset + 1)"
  }
}

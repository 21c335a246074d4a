/// A token that is stored in a file, so that links with it stay valid after a restart.
package enum TokenFile {
  /// Reads the token from a file; creates the file with a new token if it does not exist.
  package static func read(_ path: String) throws(PrivateFileFailure) -> String {
    let bytes = try PrivateFile.read(
      path, limit: 2 * Tokens.length, allowedMode: 0o770,
      remedy: "readable by all users; run: chmod o= \(path)")
    guard let bytes else {
      let token = Tokens.random()
      try PrivateFile.write(path, Array((token + "\n").utf8))
      return token
    }
    var text = String(decoding: bytes, as: UTF8.self)
    if text.hasSuffix("\n") { text.removeLast() }
    guard text.utf8.count == Tokens.length, text.allSatisfy(\.isHexDigit) else {
      throw PrivateFileFailure(
        path, problem: "contains no token; remove the file to get a new one")
    }
    return text
  }
}

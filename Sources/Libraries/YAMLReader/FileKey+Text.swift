import Foundation

extension FileKey {
  /// Reads the text of a configuration file.
  package static func text(of file: String) throws(ConfigurationError) -> String {
    let bytes: Data
    do {
      // `String(contentsOfFile:)` rejects files that are not regular, such as /dev/null.
      bytes = try FileHandle(forReadingFrom: URL(fileURLWithPath: file)).readToEnd() ?? Data()
    } catch {
      throw ConfigurationError(file: file, message: unreadable(file, error as NSError))
    }
    guard let text = String(bytes: bytes, encoding: .utf8) else {
      throw ConfigurationError(
        file: file, message: "cannot be read: it is not valid UTF-8; save it in UTF-8")
    }
    return text
  }

  private static func unreadable(_ file: String, _ error: NSError) -> String {
    var isDirectory: ObjCBool = false
    if FileManager.default.fileExists(atPath: file, isDirectory: &isDirectory),
      isDirectory.boolValue
    {
      return "cannot be read: it is a directory; name a file"
    }
    switch CocoaError.Code(rawValue: error.code) {
    case .fileReadNoSuchFile, .fileNoSuchFile:
      return "cannot be read: there is no such file; name one that exists"
    case .fileReadNoPermission:
      return "cannot be read: \(program)'s user has no permission; grant it, or name another file"
    default:
      return "cannot be read: \(error.localizedDescription); name another file"
    }
  }
}

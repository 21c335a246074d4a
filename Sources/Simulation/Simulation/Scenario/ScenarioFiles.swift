import Glibc
import HangSimulation

/// The functions with which a simulation accesses files. Tests can replace these functions, and a
/// service can restrict the access.
package struct ScenarioFiles: Sendable {
  /// Returns the bytes of a file, or `nil` if it does not exist.
  package var read: @Sendable (_ path: String) -> [UInt8]?
  /// Returns the sorted names of the files in a directory; returns an empty array if the directory
  /// does not exist.
  package var list: @Sendable (_ path: String) -> [String]

  package init(
    read: @escaping @Sendable (String) -> [UInt8]?, list: @escaping @Sendable (String) -> [String]
  ) {
    self.read = read
    self.list = list
  }

  /// The directory in which the package installs the files of `config`.
  private static let installed = "/usr/share/livehost"

  /// Returns the bytes of a recording. Tries the name itself, then each parent directory of the
  /// scenario, and then the directory of installed packages.
  func recording(_ name: String, scenario: String) -> [UInt8]? {
    if name.hasPrefix("/") { return read(name) }
    let shared = name.hasPrefix("config/") ? String(name.dropFirst(7)) : name
    let candidates =
      [name] + Self.directories(above: scenario).map { Self.join($0, name) }
      + ["\(Self.installed)/\(shared)"]
    for candidate in candidates { if let bytes = read(candidate) { return bytes } }
    return nil
  }

  /// Returns a device profile and its path. Searches the directory `devices` next to the scenario
  /// and to each of its parent directories, then `config/devices`, and then the directory of
  /// installed packages.
  func device(_ name: String, scenario: String) -> (path: String, text: String)? {
    guard !name.contains("/") else { return nil }
    for directory in Self.deviceDirectories(scenario) {
      let path = Self.join(directory, "\(name).yaml")
      if let bytes = read(path) { return (path, String(decoding: bytes, as: UTF8.self)) }
    }
    return nil
  }

  /// Returns the sorted names of all device profiles that a scenario can use.
  package func deviceNames(scenario: String) -> [String] {
    var names: Set<String> = []
    for directory in Self.deviceDirectories(scenario) {
      for name in list(directory) where name.hasSuffix(".yaml") {
        names.insert(String(name.dropLast(5)))
      }
    }
    return names.sorted()
  }

  private static func deviceDirectories(_ scenario: String) -> [String] {
    directories(above: scenario).map { join($0, "devices") }
      + ["config/devices", "\(installed)/devices"]
  }

  /// Returns the directory of a path and its parents, nearest first. "" is the current directory.
  private static func directories(above path: String) -> [String] {
    var directories: [String] = []
    var rest = path[...]
    while let slash = rest.lastIndex(of: "/") {
      rest = rest[..<slash]
      directories.append(rest.isEmpty ? "/" : String(rest))
    }
    if !path.hasPrefix("/") { directories.append("") }
    return directories
  }

  private static func join(_ directory: String, _ name: String) -> String {
    directory.isEmpty ? name : directory == "/" ? "/\(name)" : "\(directory)/\(name)"
  }
}

extension ScenarioFiles {
  /// The maximum size of a file in bytes.
  private static let sizeLimit = 1 << 30

  /// Accesses the files of this machine.
  package static let disk = ScenarioFiles(read: readFile, list: listDirectory)

  private static func readFile(_ path: String) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_size <= sizeLimit
    else { return nil }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
      let count = Glibc.read(descriptor, &piece, piece.count)
      if count == 0 { return bytes }
      if count > 0 {
        bytes += piece[..<count]
      } else if errno != EINTR {
        return nil
      }
    }
  }

  private static func listDirectory(_ path: String) -> [String] {
    guard let directory = opendir(path.isEmpty ? "." : path) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      names.append(
        withUnsafePointer(to: &entry.pointee.d_name) { pointer in
          pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        })
    }
    return names.sorted()
  }
}

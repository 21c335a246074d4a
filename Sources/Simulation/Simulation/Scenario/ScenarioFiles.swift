import Glibc
import HangSimulation

/// How a simulation reads files: passed in, so that tests can invent them and a service can refuse.
package struct ScenarioFiles: Sendable {
  /// The bytes of a file; `nil` if it does not exist.
  package var read: @Sendable (_ path: String) -> [UInt8]?
  /// The names in a directory, sorted; empty if it does not exist.
  package var list: @Sendable (_ path: String) -> [String]

  package init(
    read: @escaping @Sendable (String) -> [UInt8]?, list: @escaping @Sendable (String) -> [String]
  ) {
    self.read = read
    self.list = list
  }

  /// Where the package installs the files of `config`.
  private static let installed = "/usr/share/livehost"

  /// A recording: as named, then below each directory that the scenario is in, then where packages
  /// put recordings.
  func recording(_ name: String, scenario: String) -> [UInt8]? {
    if name.hasPrefix("/") { return read(name) }
    let shared = name.hasPrefix("config/") ? String(name.dropFirst(7)) : name
    let candidates =
      [name] + Self.directories(above: scenario).map { Self.join($0, name) }
      + ["\(Self.installed)/\(shared)"]
    for candidate in candidates { if let bytes = read(candidate) { return bytes } }
    return nil
  }

  /// A device profile and its path: from a directory `devices` next to the scenario or next to one
  /// of its parent directories, then from `config/devices`, then from where packages install them.
  func device(_ name: String, scenario: String) -> (path: String, text: String)? {
    guard !name.contains("/") else { return nil }
    for directory in Self.deviceDirectories(scenario) {
      let path = Self.join(directory, "\(name).yaml")
      if let bytes = read(path) { return (path, String(decoding: bytes, as: UTF8.self)) }
    }
    return nil
  }

  /// The names of all device profiles that a scenario can use, sorted.
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

  /// The directory of a path and those above it, the nearest first; "" is the current one.
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
  /// Longest file that is read, in bytes.
  private static let sizeLimit = 1 << 30

  /// The files of this machine.
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

import Foundation
import LiveEvents
import Wording
package import YAMLReader

extension Configuration {
  /// Reads the configuration from where it was read at the start.
  package typealias Reader = @Sendable () throws(ConfigurationError) -> Configuration

  /// Directories that are searched, the later ones overriding the earlier ones.
  package static let directories = ["/usr/lib/livehost", "/run/livehost.d", "/etc/livehost"]

  /// Reads the files of an installed daemon: in each directory `livehostd.yaml`, then
  /// `livehostd.yaml.d/*.yaml` by name. Files that do not exist are skipped.
  package static func load(
    directories: [String] = Configuration.directories
  ) throws(ConfigurationError) -> Configuration {
    var configuration = Configuration()
    for directory in directories {
      let main = directory + "/livehostd.yaml"
      if FileManager.default.fileExists(atPath: main) { try configuration.read(file: main) }
      let dropIns = main + ".d"
      let names = (try? FileManager.default.contentsOfDirectory(atPath: dropIns)) ?? []
      for name in names.sorted() where name.hasSuffix(".yaml") {
        try configuration.read(file: dropIns + "/" + name)
      }
    }
    return configuration
  }

  /// Reads one file over the present values.
  package mutating func read(file: String) throws(ConfigurationError) {
    try read(text: ConfigurationKey.text(of: file), file: file)
  }

  /// Refuses keys that contradict each other, once all files are read.
  ///
  /// - Parameter file: its name in errors.
  package func validate(file: String) throws(ConfigurationError) {
    let open = Set(openRooms).count
    guard open > rooms.maximumRooms else { return }
    throw ConfigurationError(
      file: file, key: "rooms.open",
      message: "names \(Format.count(open, "room")), but rooms.maximum is \(rooms.maximumRooms); "
        + "raise that, or open fewer")
  }

  /// Reads `text` over the present values. `file` is its name in errors.
  package mutating func read(text: String, file: String) throws(ConfigurationError) {
    guard let root = try YAMLNode(parsing: text, file: file) else { return }
    try ConfigurationKey.read(root, into: &self)
  }

  /// The commented default file.
  package static var commentedDefaults: String {
    ConfigurationKey.commentedDefaults(of: "livehostd")
  }
}

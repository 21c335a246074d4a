import Foundation
import LiveEvents
import Rooms
import Wording
package import YAMLReader

extension Configuration {
  /// Reads the configuration from the same files as when the daemon started.
  package typealias Reader = @Sendable () throws(ConfigurationError) -> Configuration

  /// The directories to search. Values in a later directory override values in an earlier one.
  package static let directories = ["/usr/lib/livehost", "/run/livehost.d", "/etc/livehost"]

  /// Returns the configuration of an installed daemon.
  ///
  /// In each directory, reads `livehostd.yaml`, then `livehostd.yaml.d/*.yaml` in order of their
  /// names. Missing files are skipped.
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

  /// Checks that the values do not contradict each other. Must be called after all files are read.
  ///
  /// - Parameter file: The file name for errors.
  /// - Throws: ``ConfigurationError`` if `rooms.open` names more rooms than `rooms.maximum`.
  package func validate(file: String) throws(ConfigurationError) {
    let open = Set(openRooms).count
    guard open > rooms.maximumRooms else { return }
    throw ConfigurationError(
      file: file, key: "rooms.open",
      message: "names \(Format.count(open, "room")), but rooms.maximum is \(rooms.maximumRooms); "
        + "raise rooms.maximum or open fewer rooms")
  }
}

import ArgumentParser
package import ChatImport
import Foundation

/// A time zone, as an argument: `Europe/Berlin`, `UTC`, or `local` for the zone of this machine.
package struct TimeZoneName: ExpressibleByArgument, Sendable {
  private let zone: TimeZone
  package let defaultValueDescription: String

  package static let local = TimeZoneName(zone: .current, defaultValueDescription: "local")

  private init(zone: TimeZone, defaultValueDescription: String) {
    (self.zone, self.defaultValueDescription) = (zone, defaultValueDescription)
  }

  /// Fails if this machine has no zone with the name.
  package init?(argument: String) {
    if argument == "local" {
      self = .local
    } else if let zone = TimeZone(identifier: argument) {
      self.init(zone: zone, defaultValueDescription: argument)
    } else {
      return nil
    }
  }

  /// Returns the offset from UTC, in seconds, at a local time. `local` is that local time in
  /// seconds since 1970, computed as if it were UTC.
  package func secondsFromUTC(local: Int) -> Int {
    func offset(at time: Int) -> Int {
      zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(time)))
    }
    // The inner lookup uses `local` as if it were UTC, which is close enough to find the right
    // offset.
    return offset(at: local - offset(at: local))
  }

  package var logZone: LogZone { LogZone { secondsFromUTC(local: $0) } }
}

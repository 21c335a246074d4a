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

  /// Fails if this machine does not know a time zone with this name.
  package init?(argument: String) {
    if argument == "local" {
      self = .local
    } else if let zone = TimeZone(identifier: argument) {
      self.init(zone: zone, defaultValueDescription: argument)
    } else {
      return nil
    }
  }

  /// Returns the offset from UTC, in seconds, at a local time. `local` is the local time, converted
  /// to seconds since 1970 as if it were UTC.
  package func secondsFromUTC(local: Int) -> Int {
    func offset(at time: Int) -> Int {
      zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(time)))
    }
    // The inner lookup treats `local` as UTC. The error is at most the offset, which is close
    // enough to find the right offset.
    return offset(at: local - offset(at: local))
  }

  package var logZone: LogZone { LogZone { secondsFromUTC(local: $0) } }
}

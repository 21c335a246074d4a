import ArgumentParser
import Foundation
package import PlatformFormats

/// A time zone as an argument names it: `Europe/Berlin`, `UTC`, or `local` for that of this machine.
package struct TimeZoneName: ExpressibleByArgument, Sendable {
  private let zone: TimeZone
  package let defaultValueDescription: String

  package static let local = TimeZoneName(zone: .current, defaultValueDescription: "local")

  private init(zone: TimeZone, defaultValueDescription: String) {
    (self.zone, self.defaultValueDescription) = (zone, defaultValueDescription)
  }

  /// `nil` if this machine knows no such zone.
  package init?(argument: String) {
    if argument == "local" {
      self = .local
    } else if let zone = TimeZone(identifier: argument) {
      self.init(zone: zone, defaultValueDescription: argument)
    } else {
      return nil
    }
  }

  /// By how many seconds a local time is ahead of UTC. The local time is given as seconds since 1970 as if it were UTC.
  package func secondsFromUTC(local: Int) -> Int {
    func offset(at time: Int) -> Int {
      zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(time)))
    }
    // The offset at the same reading of a clock in UTC is that of a moment nearby.
    return offset(at: local - offset(at: local))
  }

  package var logZone: LogZone { LogZone { secondsFromUTC(local: $0) } }
}

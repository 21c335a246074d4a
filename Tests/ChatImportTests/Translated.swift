import ChatImport
import Foundation
import LiveEvents
import Testing
import WireFormats

/// The translation of a text into native lines, with the counts of unknown kinds.
struct Translated {
  /// The lines, without the member `platform` at the end of each line.
  let lines: [String]
  private(set) var platforms: Set<String> = []
  let unknown: [String: Int]
  /// The reason why the rest of the text could not be read.
  let failure: String?
  /// The events that a daemon decodes from the lines, and its reasons for rejecting lines.
  private(set) var events: [LiveEvent] = []
  private(set) var rejected: [String] = []

  /// - Parameter pieces: The number of bytes passed in each call.
  init(_ format: PlatformFormat, _ text: String, pieces: Int = .max, zone: LogZone = .utc) {
    var translator = PlatformTranslator(format, zone: zone)
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let piece = bytes.prefix(pieces)
      piece.withUnsafeBytes { translator.translate($0) }
      bytes = bytes.dropFirst(piece.count)
    }
    translator.finish()
    let output = translator.removeLines()
    let whole = String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
    lines = whole.map { line in
      line.range(of: #","platform":""#).map { line[..<$0.lowerBound] + "}" } ?? line
    }
    unknown = translator.output.unknown
    failure = translator.failure
    var decoder = LineDecoder()
    for line in whole {
      let slab = ByteSlab(Array(line.utf8))
      switch decoder.decode(
        slab, line: ByteSlab.Slice(offset: 0, count: line.utf8.count), arrival: 0)
      {
      case .event(let event, _):
        events.append(event)
        platforms.insert(String(event.origin.platform))
      case .rejected(let reason, _): rejected.append("\(reason): \(line)")
      case .control, .blank: rejected.append("no event: \(line)")
      }
    }
  }
}

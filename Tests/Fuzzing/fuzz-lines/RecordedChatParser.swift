import ChatImport
import FuzzSupport
import LiveEvents
import WireFormats

/// Translates recorded chats, in one piece and in several pieces, and compares the results.
final class RecordedChatParser: Parser {
  private let format: PlatformFormat
  private var decoder = LineDecoder()

  init(_ format: PlatformFormat) { self.format = format }

  func read(_ bytes: UnsafeBufferPointer<UInt8>) {
    let whole = translated(bytes, pieces: max(1, bytes.count))
    check("a translation does not depend on the pieces", whole == translated(bytes, pieces: 3))
    guard !whole.isEmpty else { return }
    let slab = ByteSlab(whole)
    var offset = 0
    while let line = slab.nextLine(at: &offset) {
      guard line.count <= LineDecoder.maximumLineLength else { continue }
      if case .event = decoder.decode(slab, line: line, arrival: 7) { continue }
      check("a translated line is a valid event", false)
    }
    if decoder.roomCount > 1 { decoder.forgetRooms() }
  }

  private func translated(_ bytes: UnsafeBufferPointer<UInt8>, pieces: Int) -> [UInt8] {
    var translator = PlatformTranslator(format)
    for start in stride(from: 0, to: bytes.count, by: pieces) {
      let piece = bytes[start..<min(start + pieces, bytes.count)]
      translator.translate(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: piece)))
    }
    translator.finish()
    return translator.removeLines()
  }
}

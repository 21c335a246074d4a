package import ChatImport

/// A source that converts text to UTF-8 and translates a recorded chat into native lines.
package final class TranslatedSource: ByteSource {
  private let source: any ByteSource
  private let zone: LogZone
  private var encoding = TextEncoding()
  private var format: PlatformFormat?
  private var translator: PlatformTranslator?
  /// The first bytes of the input, kept until its format is recognised.
  private var head: [UInt8] = []
  private var isRecognised: Bool

  /// - Parameters:
  ///   - format: the format of the input; `auto` recognises it by its first bytes.
  ///   - zone: the time zone for chat logs that do not name a time zone.
  package init(_ source: any ByteSource, format: LineFormat, zone: LogZone) {
    self.source = source
    self.zone = zone
    self.format = format.platformFormat
    translator = self.format.map { PlatformTranslator($0, zone: zone) }
    isRecognised = format != .auto
  }

  package var descriptor: Int32? { source.descriptor }
  package var fileBytes: Int { source.fileBytes }
  package var fileSize: Int? { source.fileSize }
  package var unknown: [String: Int] { translator?.output.unknown ?? [:] }
  package var appearance: String? {
    if let translator, translator.output.lines > 0 { return nil }
    return format?.description ?? FileAppearance.describe(head)
  }

  package func read(_ body: (UnsafeRawBufferPointer) -> Void) throws(Failure) -> Bool {
    let more = try source.read { piece in
      encoding.convert(piece) { receive($0, body) }
    }
    if !more {
      encoding.finish { receive($0, body) }
      if !isRecognised { recogniseFormat(body) }
      translator?.finish()
      forwardLines(body)
    }
    if let failure = translator?.failure { throw Failure(.badData, failure) }
    return more
  }

  private func receive(_ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void) {
    if isRecognised {
      let missing = PlatformFormat.headLength - head.count
      if missing > 0 { head.append(contentsOf: bytes.prefix(missing)) }
      return forward(bytes, body)
    }
    head.append(contentsOf: bytes)
    if isEnough { recogniseFormat(body) }
  }

  /// Whether enough bytes have arrived to recognise the format. One line is enough, because live
  /// input must not be delayed. A line that contains only the opening bracket of a JSON document is
  /// not enough.
  private var isEnough: Bool {
    if head.count >= PlatformFormat.headLength { return true }
    let blanks: Set<UInt8> = [0x20, 0x09, 0x0D, 0x0A]
    let text = head.drop { blanks.contains($0) }
    guard let end = text.firstIndex(of: 0x0A) else { return false }
    let line = text[..<end].filter { !blanks.contains($0) }
    return line != [UInt8(ascii: "{")] && line != [UInt8(ascii: "[")]
  }

  private func recogniseFormat(_ body: (UnsafeRawBufferPointer) -> Void) {
    isRecognised = true
    format = PlatformFormat(head: head)
    translator = format.map { PlatformTranslator($0, zone: zone) }
    head.withUnsafeBytes { forward($0, body) }
    head = Array(head.prefix(PlatformFormat.headLength))
  }

  private func forward(_ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void) {
    guard translator != nil else { return body(bytes) }
    translator?.translate(bytes)
    forwardLines(body)
  }

  private func forwardLines(_ body: (UnsafeRawBufferPointer) -> Void) {
    guard let lines = translator?.removeLines(), !lines.isEmpty else { return }
    lines.withUnsafeBytes(body)
  }
}

import PlatformFormats

/// A source whose recorded chat, if it is one, is translated into native lines.
package final class TranslatedSource: ByteSource {
  private let source: any ByteSource
  private let format: LineFormat
  private var translator: PlatformTranslator?
  /// The first bytes, until the format is known.
  private var head: [UInt8]? = []

  /// - Parameter format: of the source; `auto` recognises it by its first bytes.
  package init(_ source: any ByteSource, format: LineFormat) {
    self.source = source
    self.format = format
    switch format {
    case .auto: break
    case .native, .twitchIRC: head = nil
    case .youtube, .eventSub, .chatterino, .twitchDownloader:
      head = nil
      translator = format.platformFormat.map { PlatformTranslator($0) }
    }
  }

  package var descriptor: Int32? { source.descriptor }
  package var fileBytes: Int { source.fileBytes }
  package var fileSize: Int? { source.fileSize }
  package var unknown: [String: Int] { translator?.output.unknown ?? [:] }

  package func read(_ body: (UnsafeRawBufferPointer) -> Void) throws(Failure) -> Bool {
    let more = try source.read { take($0, body) }
    if !more {
      if let head { begin(head, body) }
      translator?.finish()
      pass(body)
    }
    return more
  }

  private func take(_ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void) {
    if var head {
      head.append(contentsOf: bytes)
      // Input that is being written live must not wait: a line is enough.
      guard head.contains(0x0A) || head.count >= PlatformFormat.headLength else {
        self.head = head
        return
      }
      return begin(head, body)
    }
    guard translator != nil else { return body(bytes) }
    translator?.translate(bytes)
    pass(body)
  }

  private func begin(_ head: [UInt8], _ body: (UnsafeRawBufferPointer) -> Void) {
    self.head = nil
    translator = PlatformFormat(head: head).map { PlatformTranslator($0) }
    head.withUnsafeBytes { take($0, body) }
  }

  private func pass(_ body: (UnsafeRawBufferPointer) -> Void) {
    guard let lines = translator?.takeLines(), !lines.isEmpty else { return }
    lines.withUnsafeBytes(body)
  }
}

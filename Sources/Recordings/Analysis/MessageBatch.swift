package import Foundation
package import LiveEvents

/// Messages that are waiting for the analysis: their texts in one block, and their times.
package struct MessageBatch: Equatable, Sendable, Codable {
  /// The largest size of the texts, in bytes.
  package static let byteLimit = 512 << 10
  /// The memory of a full batch, in bytes.
  package static let memory = byteLimit + ChatFindings.batchLimit * 12

  /// The number of the first message, counted over all messages given to the analysis.
  package let first: Int
  private var texts: [UInt8] = []
  /// The offsets of the ends of texts.
  private var ends: [Int32] = []
  private var times: [Timestamp] = []

  package init(first: Int = 0) { self.first = first }

  package var count: Int { ends.count }
  package var isEmpty: Bool { ends.isEmpty }
  /// The number of the last message plus one.
  package var end: Int { first + count }

  /// Adds a message. Returns `false` if the batch is full.
  ///
  /// - Complexity: O(length of the compared part of the text).
  package mutating func append(_ message: ChatMessage, at time: Timestamp) -> Bool {
    guard count < ChatFindings.batchLimit, texts.count <= Self.byteLimit - TextForm.longest
    else { return false }
    message.text.withUTF8 { texts += $0.prefix(TextForm.longest) }
    ends.append(Int32(texts.count))
    times.append(time)
    return true
  }

  func time(of index: Int) -> Timestamp { times[index] }

  func withText<Result>(
    of index: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Result
  ) -> Result {
    texts.withUnsafeBufferPointer { texts in
      let start = index == 0 ? 0 : Int(ends[index - 1])
      return body(UnsafeBufferPointer(rebasing: texts[start..<Int(ends[index])]))
    }
  }

  /// Returns a text as a sample for users, without its last character if that may be incomplete.
  func sample(of index: Int) -> String {
    withText(of: index) { text in
      var text = text[...]
      if text.count == TextForm.longest {
        while let last = text.last, last & 0xC0 == 0x80 { text.removeLast() }
        if let last = text.last, last >= 0xC0 { text.removeLast() }
      }
      return String(decoding: text, as: UTF8.self)
    }
  }
}

// Encoded as blocks of bytes.
extension MessageBatch {
  private enum CodingKeys: String, CodingKey { case first, texts, ends, times }

  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    first = try values.decode(Int.self, forKey: .first)
    texts = Array(try values.decode(Data.self, forKey: .texts))
    ends = Array(packed: try values.decode(Data.self, forKey: .ends))
    times = Array(packed: try values.decode(Data.self, forKey: .times))
    let isValid =
      (0...EventLimits.total.upperBound).contains(first) && ends.count == times.count
      && ends.count <= ChatFindings.batchLimit && texts.count <= Self.byteLimit
      && zip([0] + ends, ends).allSatisfy { $0 <= $1 } && ends.last ?? 0 == texts.count
    guard isValid else {
      throw DecodingError.dataCorruptedError(
        forKey: .ends, in: values, debugDescription: "the sizes of texts and times do not match")
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(first, forKey: .first)
    try values.encode(Data(texts), forKey: .texts)
    try values.encode(ends.packed, forKey: .ends)
    try values.encode(times.packed, forKey: .times)
  }
}

extension Array where Element: FixedWidthInteger & BitwiseCopyable {
  /// The numbers as bytes, which are much shorter than their text.
  package var packed: Data {
    var data = Data(capacity: count * MemoryLayout<Element>.size)
    for number in self {
      Swift.withUnsafeBytes(of: number.littleEndian) { data.append(contentsOf: $0) }
    }
    return data
  }

  /// Creates an array from packed numbers. Superfluous bytes are ignored.
  package init(packed data: Data) {
    let size = MemoryLayout<Element>.size
    self = data.withUnsafeBytes { bytes in
      (0..<bytes.count / size).map {
        Element(littleEndian: bytes.loadUnaligned(fromByteOffset: $0 * size, as: Element.self))
      }
    }
  }
}

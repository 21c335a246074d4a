import Compression
import Glibc

/// The input of a playback. Confined to one thread.
package protocol ByteSource: AnyObject {
  /// The descriptor to wait for before reading; nil if reading never blocks.
  var descriptor: Int32? { get }
  /// The bytes read from the file so far, before decompression.
  var fileBytes: Int { get }
  var fileSize: Int? { get }
  /// The kinds of message that could not be translated so far, and the number of messages of each
  /// kind.
  var unknown: [String: Int] { get }
  /// The probable format of the input, for the error message if the daemon could read nothing in
  /// it.
  var appearance: String? { get }
  /// Reads the next bytes and passes them to `body`; returns false at the end of the input.
  func read(_ body: (UnsafeRawBufferPointer) -> Void) throws(Failure) -> Bool
}

extension ByteSource {
  package var unknown: [String: Int] { [:] }
  package var appearance: String? { nil }
}

/// A file or standard input. Recognises gzip compression by the first bytes of the input, not by
/// the file's name.
package final class FileSource: ByteSource {
  /// Reads are this small so that the progress bar of a playback at a limited speed advances in
  /// small steps.
  private static let pieceSize = 16 * 1024

  package let descriptor: Int32?
  package private(set) var fileBytes = 0
  package let fileSize: Int?
  private let file: Int32
  private let name: String
  private var gzip: GzipBox?
  /// The first bytes of the file, kept until there are enough to recognise gzip.
  private var head: [UInt8]? = []
  private var piece = [UInt8](repeating: 0, count: pieceSize)

  /// - Parameter path: the path of the file, or `-` for standard input.
  package init(path: String) throws(Failure) {
    name = path == "-" ? "standard input" : path
    file = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw Self.failure(name, errno) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
      close(file)
      throw Failure(.badData, "\(name) is a directory")
    }
    let isRegular = status.st_mode & S_IFMT == S_IFREG
    fileSize = isRegular ? Int(status.st_size) : nil
    descriptor = isRegular ? nil : file
  }

  deinit { close(file) }

  package func read(_ body: (UnsafeRawBufferPointer) -> Void) throws(Failure) -> Bool {
    let count = piece.withUnsafeMutableBytes { buffer in
      Glibc.read(file, buffer.baseAddress, buffer.count)
    }
    guard count >= 0 else {
      if errno == EINTR || errno == EAGAIN { return true }
      throw Self.failure(name, errno)
    }
    fileBytes += count
    if count == 0 {
      try finish(body)
      return false
    }
    try pass(piece[..<count], body)
    return true
  }

  private func pass(
    _ bytes: ArraySlice<UInt8>, _ body: (UnsafeRawBufferPointer) -> Void
  ) throws(Failure) {
    guard var head else { return try inflate(bytes, body) }
    head += bytes
    self.head = head
    guard head.count >= GzipReader.magic.count else { return }
    self.head = nil
    do { if head.starts(with: GzipReader.magic) { gzip = try GzipBox() } } catch {
      throw failure(error)
    }
    try inflate(head[...], body)
  }

  private func inflate(
    _ bytes: ArraySlice<UInt8>, _ body: (UnsafeRawBufferPointer) -> Void
  ) throws(Failure) {
    guard let gzip else { return bytes.withUnsafeBytes(body) }
    let result = bytes.withUnsafeBytes { buffer in
      Result { () throws(GzipError) in try gzip.reader.read(buffer, body) }
    }
    do { try result.get() } catch { throw failure(error) }
  }

  private func finish(_ body: (UnsafeRawBufferPointer) -> Void) throws(Failure) {
    if let head { head.withUnsafeBytes(body) }
    head = nil
    do { try gzip?.reader.finish() } catch { throw failure(error) }
  }

  private func failure(_ error: GzipError) -> Failure {
    Failure(error == .outOfMemory ? .failed : .badData, "\(name): \(error)")
  }

  private static func failure(_ name: String, _ code: Int32) -> Failure {
    Failure(.badData, "cannot read \(name): \(String(cString: strerror(code)))")
  }
}

/// A class that contains the noncopyable gzip reader, so that the reader can be stored in an
/// optional.
private final class GzipBox {
  var reader: GzipReader
  init() throws(GzipError) { reader = try GzipReader() }
}

import CZlib
import HTTPTypes
import Hummingbird
import NIOCore

/// The files of the page, compiled into the program and compressed once when it starts.
///
/// The addresses of all files except HTML documents contain a checksum of these files. If any of
/// the files changes, all addresses change, so browsers may cache the files forever.
struct PageFiles: Sendable {
  private struct File: Sendable {
    let type: String
    let plain: ByteBuffer
    let compressed: ByteBuffer
    let tag: String
  }

  private static let types = [
    "css": "text/css", "html": "text/html", "js": "text/javascript", "svg": "image/svg+xml",
  ]

  private let documents: [String: File]
  private let assets: [String: File]
  private let version: String

  /// Compresses the given files, whose keys are their names. In an HTML document, `/assets/` is
  /// replaced with the address of the other files.
  init(_ files: [String: [UInt8]]) {
    var checksum = crc32(0, nil, 0)
    for (_, bytes) in files.sorted(by: { $0.key < $1.key }) {
      checksum = crc32(checksum, bytes, UInt32(bytes.count))
    }
    let version = String(checksum, radix: 16)
    var (documents, assets): ([String: File], [String: File]) = ([:], [:])
    for (name, bytes) in files {
      let suffix = name.split(separator: ".").last.map(String.init) ?? ""
      let type = (Self.types[suffix] ?? "application/octet-stream") + "; charset=utf-8"
      let isDocument = suffix == "html"
      let text = String(decoding: bytes, as: UTF8.self)
        .replacing("\"/assets/", with: "\"/assets/\(version)/")
      let plain = isDocument ? Array(text.utf8) : bytes
      let file = File(
        type: type, plain: ByteBuffer(bytes: plain),
        compressed: ByteBuffer(bytes: Self.compressed(plain)),
        tag: "\"\(version)\"")
      if isDocument { documents[name] = file } else { assets[name] = file }
    }
    (self.documents, self.assets, self.version) = (documents, assets, version)
  }

  var compressedBytes: Int {
    (Array(documents.values) + Array(assets.values)).reduce(0) { $0 + $1.compressed.readableBytes }
  }

  func document(_ name: String, _ request: Request) -> Response {
    guard let file = documents[name] else { return Response(status: .notFound) }
    if request.headers[.ifNoneMatch] == file.tag {
      return Response(status: .notModified, headers: [.eTag: file.tag, .cacheControl: "no-cache"])
    }
    return response(file, request, caching: "no-cache")
  }

  func asset(_ version: String, _ name: String, _ request: Request) -> Response {
    guard version == self.version, let file = assets[name] else {
      return Response(status: .notFound)
    }
    return response(file, request, caching: "public, max-age=31536000, immutable")
  }

  private func response(_ file: File, _ request: Request, caching: String) -> Response {
    var headers: HTTPFields = [
      .contentType: file.type, .cacheControl: caching, .eTag: file.tag, .vary: "Accept-Encoding",
    ]
    let accepts = request.headers[.acceptEncoding]?.contains("gzip") == true
    if accepts { headers[.contentEncoding] = "gzip" }
    return Response(
      status: .ok, headers: headers,
      body: ResponseBody(byteBuffer: accepts ? file.compressed : file.plain))
  }

  /// Compresses bytes in the gzip format (RFC 1952).
  private static func compressed(_ bytes: [UInt8]) -> [UInt8] {
    var stream = z_stream()
    let version = ZLIB_VERSION
    // 15 is the window size in bits; adding 16 selects the gzip header.
    guard
      deflateInit2_(
        &stream, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY, version,
        Int32(MemoryLayout<z_stream>.size)) == Z_OK
    else { return [] }
    defer { deflateEnd(&stream) }
    var input = bytes
    return input.withUnsafeMutableBufferPointer { input in
      [UInt8](unsafeUninitializedCapacity: Int(deflateBound(&stream, UInt(input.count))) + 32) {
        output, count in
        (stream.next_in, stream.avail_in) = (input.baseAddress, UInt32(input.count))
        (stream.next_out, stream.avail_out) = (output.baseAddress, UInt32(output.count))
        deflate(&stream, Z_FINISH)
        count = Int(stream.total_out)
      }
    }
  }
}

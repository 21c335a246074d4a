package import FileSystem
import LiveEvents

/// A directory of files that contain one JSON object each and are only replaced as a whole. The
/// version before the newest is kept beside it.
///
/// The object is on one line that ends with a checksum (see ``LineChain``), which reveals any
/// change made by the disk.
package struct StateDirectory: Sendable {
  package let path: String
  private let disk: any Disk

  package init(_ path: String, disk: any Disk = SystemDisk()) {
    self.path = path
    self.disk = disk
  }

  /// One of the two versions of a file.
  package enum Version: String, CaseIterable {
    case newest = ""
    case previous = ".previous"
  }

  private static let unfinishedSuffix = ".new"

  /// Returns the path of a version of the file `name`.
  package func path(of name: String, _ version: Version = .newest) -> String {
    "\(path)/\(name)\(version.rawValue)"
  }

  /// Returns the names of all files of either version, sorted. Removes files that were being
  /// written when the last run ended.
  package func names() throws(RecordingError) -> [String] {
    try Directories.names(in: path, on: disk).filter { name in
      guard name.hasSuffix(Self.unfinishedSuffix) else { return true }
      try? disk.remove(path(of: name))
      return false
    }
  }

  /// Replaces a file. Creates the directory if it is missing.
  ///
  /// The new version is synced. Until ``sync()`` returns, a power failure may leave either version.
  ///
  /// - Parameter object: the text of a JSON object with at least one member.
  package func replace(_ name: String, with object: [UInt8]) throws(RecordingError) {
    var line = object
    line.removeLast()
    var chain = LineChain()
    chain.close(&line, from: 0)
    let unfinished = path(of: name) + Self.unfinishedSuffix
    do throws(RecordingError) {
      try write(line, to: unfinished)
      // In this order, a complete version always exists. If only the previous one is left, the new
      // version was not acknowledged yet.
      do throws(RecordingError) {
        try Directories.rename(path(of: name), to: path(of: name, .previous), on: disk)
      } catch  where error.isMissing {
        // This is the first version, or the previous version was damaged and was removed.
      }
      try Directories.rename(unfinished, to: path(of: name), on: disk)
    } catch {
      try? disk.remove(unfinished)
      throw error
    }
  }

  private func write(_ line: [UInt8], to unfinished: String) throws(RecordingError) {
    try? disk.remove(unfinished)
    var file: OutputFile
    do throws(RecordingError) {
      file = try OutputFile(creating: unfinished, on: disk)
    } catch {
      guard error.isMissing else { throw error }
      try Directories.create(path, on: disk)
      file = try OutputFile(creating: unfinished, on: disk)
    }
    try file.write(line)
    try file.sync()
  }

  /// Removes both versions of a file. Returns `false` if neither exists. The removal survives a
  /// power failure once ``sync()`` has returned.
  package func remove(_ name: String) throws(RecordingError) -> Bool {
    // The older version is removed first: a power failure must not leave only that one.
    let hadPrevious = try Directories.remove(path(of: name, .previous), on: disk)
    if hadPrevious { try sync() }
    let hadNewest = try Directories.remove(path(of: name), on: disk)
    return hadPrevious || hadNewest
  }

  /// Renames a version, replacing any file that has the new name. Errors are ignored.
  package func move(_ name: String, _ version: Version, to newName: String) {
    try? Directories.rename(path(of: name, version), to: path(of: newName), on: disk)
  }

  /// Makes all replacements and removals survive a power failure.
  package func sync() throws(RecordingError) { try Directories.sync(path, on: disk) }

  /// Reads a version of a file.
  ///
  /// - Returns: the line, and whether its checksum proves it unchanged. Files of earlier versions
  ///   of the program have no checksum.
  /// - Throws: ``RecordingError/rotten(path:)`` if the checksum does not match;
  ///   ``RecordingError/tooLarge(path:bytes:)`` if the file is larger than `limit`.
  package func read(
    _ name: String, _ version: Version = .newest, limit: Int
  ) throws(RecordingError) -> (line: [UInt8], isProven: Bool) {
    let path = path(of: name, version)
    let size = try InputFile.state(of: path, on: disk).bytes
    guard size <= limit else { throw .tooLarge(path: path, bytes: size) }
    let file = try InputFile(path, on: disk)
    var line: [UInt8] = []
    while let block = try file.block(after: line[...], size: max(1, size - line.count)) {
      line = block.withBytes { Array($0) }
    }
    let isProven = try line.withUnsafeBufferPointer { bytes throws(RecordingError) in
      let end = bytes.last == UInt8(ascii: "\n") ? bytes.count - 1 : bytes.count
      let text = UnsafeBufferPointer(rebasing: bytes[..<end])
      guard LineChain.isChained(text) else { return false }
      var chain = LineChain()
      guard end < bytes.count, chain.advance(text, isFirst: true) != nil else {
        throw .rotten(path: path)
      }
      return true
    }
    return (line, isProven)
  }
}

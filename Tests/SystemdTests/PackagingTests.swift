import Foundation
import Systemd
import Testing

/// The files under `packaging/`, read relative to this source file.
private func packagingFile(_ path: String) throws -> String {
  let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  return try String(contentsOf: root.appending(path: "packaging/\(path)"), encoding: .utf8)
}

/// An entry of a message catalog (https://www.freedesktop.org/wiki/Software/systemd/catalog/).
private struct CatalogEntry {
  var identifier: String
  var headers: [String: String] = [:]
  var body: [String] = []
}

private enum CatalogError: Error, Equatable {
  case textBeforeFirstEntry(line: Int)
  case badIdentifier(line: Int)
  case badHeader(line: Int)
}

/// Parses a catalog as strictly as `journalctl --update-catalog`: `-- ID` begins an entry, headers
/// follow up to an empty line, and then text.
private func parseCatalog(_ text: String) throws(CatalogError) -> [CatalogEntry] {
  var entries: [CatalogEntry] = []
  var inHeaders = false
  for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
    if line.hasPrefix("-- ") {
      let identifier = String(line.dropFirst(3))
      guard identifier.count == 32, identifier.allSatisfy({ "0123456789abcdef".contains($0) })
      else { throw .badIdentifier(line: index + 1) }
      entries.append(CatalogEntry(identifier: identifier))
      inHeaders = true
    } else if line.hasPrefix("#") {
      continue
    } else if entries.isEmpty {
      if !line.isEmpty { throw .textBeforeFirstEntry(line: index + 1) }
    } else if inHeaders, line.isEmpty {
      inHeaders = false
    } else if inHeaders {
      guard let colon = line.firstIndex(of: ":"), line[colon...].hasPrefix(": ") else {
        throw .badHeader(line: index + 1)
      }
      entries[entries.count - 1].headers[String(line[..<colon])] = String(
        line[colon...].dropFirst(2))
    } else {
      entries[entries.count - 1].body.append(String(line))
    }
  }
  return entries
}

@Suite struct CatalogTests {
  @Test func `the message catalog explains each kind of entry exactly once and no other kind`()
    throws
  {
    let entries = try parseCatalog(packagingFile("catalog/livehost.catalog"))
    let identifiers = entries.map(\.identifier)
    #expect(Set(identifiers) == Set(JournalMessageID.allCases.map(\.rawValue)))
    #expect(identifiers.count == JournalMessageID.allCases.count)
  }

  @Test func `each explanation in the message catalog has headers, text and valid field names`()
    throws
  {
    let catalog = try packagingFile("catalog/livehost.catalog")
    for entry in try parseCatalog(catalog) {
      #expect(
        Set(entry.headers.keys) == ["Subject", "Defined-By", "Support", "Documentation"],
        "\(entry.identifier)")
      #expect(entry.headers["Defined-By"] == "livehost")
      #expect(entry.body.contains { !$0.isEmpty }, "\(entry.identifier)")
    }
    #expect(catalog.split(separator: "\n").allSatisfy { $0.count(where: { $0 == "@" }) % 2 == 0 })
  }

  @Test func `explanations use only fields that every entry of the kind has`() throws {
    // A field missing in an entry would be shown as its bare name.
    for entry in try parseCatalog(packagingFile("catalog/livehost.catalog")) {
      let kind = try #require(JournalMessageID(rawValue: entry.identifier))
      let text = ([entry.headers["Subject"] ?? ""] + entry.body).joined(separator: "\n")
      for match in text.matches(of: /@([^@\s]*)@/) {
        #expect((kind.fields.always + ["MESSAGE"]).contains(String(match.1)), "\(kind.name)")
      }
    }
  }

  @Test func `journald accepts the field names of all kinds`() {
    for kind in JournalMessageID.allCases {
      let fields = kind.fields.always + kind.fields.sometimes + [JournalMessageID.repeatedField]
      #expect(Set(fields).count == fields.count, "\(kind.name)")
      for field in fields {
        #expect(field.wholeMatch(of: /LIVEHOST_[A-Z0-9_]{1,55}/) != nil, "\(field)")
        #expect(field == JournalFieldName.make(field), "\(field)")
      }
    }
  }

  @Test func `the check of the message catalog's format detects errors`() {
    #expect(throws: CatalogError.textBeforeFirstEntry(line: 1)) { try parseCatalog("text") }
    #expect(throws: CatalogError.badIdentifier(line: 2)) { try parseCatalog("\n-- 12\n") }
    let identifier = JournalMessageID.hang.rawValue
    #expect(throws: CatalogError.badHeader(line: 2)) {
      try parseCatalog("-- \(identifier)\nno header\n")
    }
  }

  @Test func `message identifiers and names of kinds are distinct, well formed and unchanged`() {
    let kinds = JournalMessageID.allCases
    #expect(kinds.count == 20)
    #expect(Set(kinds.map(\.name)).count == kinds.count)
    for kind in kinds {
      #expect(kind.rawValue.wholeMatch(of: /[0-9a-f]{32}/) != nil)
      #expect(kind.name.wholeMatch(of: /[a-z]+(-[a-z]+)*/) != nil)
      #expect(JournalMessageID(name: kind.name) == kind)
    }
    #expect(JournalMessageID(name: "nonsense") == nil)
    #expect(JournalMessageID.hang.rawValue == "adcd8157f5ed40e18767d1e94a59cac0")
  }
}

@Suite struct UnitTests {
  /// The assignments of a unit: `Section.Key`, with its values in order.
  private func unit(_ name: String) throws -> [String: [String]] {
    var section = ""
    var settings: [String: [String]] = [:]
    for line in try packagingFile("systemd/\(name)").split(separator: "\n") {
      if line.hasPrefix("#") { continue }
      if line.hasPrefix("[") {
        section = String(line.dropFirst().dropLast())
      } else {
        let equals = try #require(line.firstIndex(of: "="), "\(line)")
        settings["\(section).\(line[..<equals])", default: []].append(
          String(line[line.index(after: equals)...]))
      }
    }
    return settings
  }

  @Test
  func `the service unit can see the users of its peers and does not own the socket directory`()
    throws
  {
    let service = try unit("livehostd.service")
    #expect(service["Service.Type"] == ["notify"])
    #expect(service["Service.WatchdogSec"] != nil)
    #expect(service["Service.DynamicUser"] == ["yes"])
    #expect(service["Service.PrivateUsers"] == nil)
    #expect(service["Service.RuntimeDirectory"] == nil)
    #expect(service["Service.Environment"] == ["LIBDISPATCH_LOG=NO"])
  }

  @Test func `the socket units have the names that the daemon expects`() throws {
    let control = try unit("livehostd.socket")
    #expect(control["Socket.FileDescriptorName"] == ["varlink"])
    #expect(control["Socket.ListenStream"] == ["/run/livehost/io.livehost.Control"])
    #expect(control["Socket.SocketMode"] == ["0666"])
    let ingest = try unit("livehostd-ingest.socket")
    #expect(ingest["Socket.FileDescriptorName"] == ["ingest"])
    #expect(ingest["Socket.ListenStream"] == ["/run/livehost/ingest"])
    #expect(ingest["Socket.SocketMode"] == ["0660"])
    #expect(ingest["Socket.SocketGroup"] == ["livehost"])
    #expect(try packagingFile("systemd/livehost.conf").contains("\ng livehost -\n"))
  }
}

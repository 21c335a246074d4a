import Foundation
import Gateway

/// Certificate files for tests, valid until 2125: one for a node with the name `localhost`, signed
/// by an authority, and a self-signed one for a stranger with the same name.
struct TunnelCertificates {
  let node: Tunnel.Identity
  let stranger: Tunnel.Identity
  /// The certificate of the node, with the stranger's authority instead of its own.
  let mistaken: Tunnel.Identity

  /// Writes the files into a directory.
  init(in directory: String) throws {
    func file(_ name: String, _ text: String) throws -> String {
      let path = "\(directory)/\(name).pem"
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
      return path
    }
    let authorities = try file("authority", Self.authority)
    node = Tunnel.Identity(
      certificate: try file("node", Self.node), key: try file("node-key", Self.nodeKey),
      authorities: authorities)
    stranger = Tunnel.Identity(
      certificate: try file("stranger", Self.stranger),
      key: try file("stranger-key", Self.strangerKey), authorities: authorities)
    mistaken = Tunnel.Identity(
      certificate: node.certificate, key: node.key, authorities: stranger.certificate)
  }

  private static let authority = """
    -----BEGIN CERTIFICATE-----
    MIIBZjCCAQ2gAwIBAgIBATAKBggqhkjOPQQDAjAiMSAwHgYDVQQDDBdsaXZlaG9z
    dCB0ZXN0IGF1dGhvcml0eTAgFw0yNTAxMDEwMDAwMDBaGA8yMTI1MDEwMTAwMDAw
    MFowIjEgMB4GA1UEAwwXbGl2ZWhvc3QgdGVzdCBhdXRob3JpdHkwWTATBgcqhkjO
    PQIBBggqhkjOPQMBBwNCAATkAZqaTtP2syT9s6lQc3NrT6R90anJrD6dWORh3jvz
    EmGs06CrzyyBT7/n1anxi4bw3AoIi8Ok9+YwHo1AYhQgozIwMDAPBgNVHRMBAf8E
    BTADAQH/MB0GA1UdDgQWBBSdiXOOApQqk61bON/QC9kFFLHjTDAKBggqhkjOPQQD
    AgNHADBEAiAoVvW7/irhdQfD2+baE3nz7WiiwFFh1DJedXvXE7C8gAIgK73TtV3G
    zbqa0vYFvegYhlB4PsI/0yId80Hg7a0deYM=
    -----END CERTIFICATE-----
    """

  private static let node = """
    -----BEGIN CERTIFICATE-----
    MIIBezCCASCgAwIBAgIBAjAKBggqhkjOPQQDAjAiMSAwHgYDVQQDDBdsaXZlaG9z
    dCB0ZXN0IGF1dGhvcml0eTAgFw0yNTAxMDEwMDAwMDBaGA8yMTI1MDEwMTAwMDAw
    MFowDzENMAsGA1UEAwwEbm9kZTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABM9r
    vLo8o9VBPlZUCVGW+Va17RexeGY5Wv2L/l9TCEBNZ0q4DVJSUeNKE4BO427Oz+mJ
    R8T4eRKVoTsKM4dvs5KjWDBWMB0GA1UdDgQWBBRERQjZaz+nD4BHZITpCr45njcy
    ozAfBgNVHSMEGDAWgBSdiXOOApQqk61bON/QC9kFFLHjTDAUBgNVHREEDTALggls
    b2NhbGhvc3QwCgYIKoZIzj0EAwIDSQAwRgIhAJ5OmN0665+61dmc9vk6W6JqBWTL
    jNVEcIUsnBPfA56jAiEAktPhtjA6JUY67/WpfCZ5J+fuK+qm4UrF+lSa39ceMVY=
    -----END CERTIFICATE-----
    """

  private static let nodeKey = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgX4ARmUjKqDNBdd55
    YUxYFV8OpAGWki5iYWxUB495v9mhRANCAATPa7y6PKPVQT5WVAlRlvlWte0XsXhm
    OVr9i/5fUwhATWdKuA1SUlHjShOATuNuzs/piUfE+HkSlaE7CjOHb7OS
    -----END PRIVATE KEY-----
    """

  private static let stranger = """
    -----BEGIN CERTIFICATE-----
    MIIBXzCCAQWgAwIBAgIBAzAKBggqhkjOPQQDAjATMREwDwYDVQQDDAhzdHJhbmdl
    cjAgFw0yNTAxMDEwMDAwMDBaGA8yMTI1MDEwMTAwMDAwMFowEzERMA8GA1UEAwwI
    c3RyYW5nZXIwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATiX6iTKeCenLt4PA33
    AXg17VBHysIqH0jMcqX/ASpux/pqq9m6wyVSSc0uFy4ABflhBPj49DPUobKQKPJi
    rmh7o0gwRjAPBgNVHRMBAf8EBTADAQH/MB0GA1UdDgQWBBR1TUPYiCR7NcmP0q4w
    qWoO0MK9hTAUBgNVHREEDTALgglsb2NhbGhvc3QwCgYIKoZIzj0EAwIDSAAwRQIh
    ALjMY6413qAbhxSrJlJbfPR9OyJ16TFRhJRvexMkZ3qoAiAfzgFcx2gmnTd2WY6g
    42kHA2jtuxSB163A+f3V1iAHgg==
    -----END CERTIFICATE-----
    """

  private static let strangerKey = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg9cQGNPpPDa5eblCc
    5td5oj+WaAZhXubk35Z6m5gP1w6hRANCAATiX6iTKeCenLt4PA33AXg17VBHysIq
    H0jMcqX/ASpux/pqq9m6wyVSSc0uFy4ABflhBPj49DPUobKQKPJirmh7
    -----END PRIVATE KEY-----
    """
}

import Foundation
package import JSON
package import LiveSources

/// A permission to read on behalf of a Twitch account, with the data for renewing it.
package struct TwitchLogin: Sendable {
  /// The identifier of the application that the account has authorised. `nil` until Twitch has
  /// identified the token.
  package var clientID: String?
  package var account: String?
  package var token: Secret
  /// The token that renews the login. Each such token works only once. `nil` if the login cannot be
  /// renewed.
  package var renewal: Secret?
  /// The path of the file that stores the login.
  package var file: String?
  /// The hash of the original file, if this login renews a login from a read-only file.
  private var origin: String?

  package init(token: Secret) { self.token = token }

  // MARK: The file

  /// Reads a file that ``save()`` has written.
  package static func read(file: String) throws(SourceError) -> TwitchLogin {
    let bytes: [UInt8]
    do {
      bytes = Array(try Data(contentsOf: URL(fileURLWithPath: file)))
    } catch {
      throw .unreadableSecret(path: file, reason: error.localizedDescription)
    }
    let value = (try? JSONValue(parsing: bytes)) ?? .null
    guard let token = value["accessToken"]?.stringValue, !token.isEmpty else {
      throw .unreadableSecret(
        path: file, reason: "the file was not written by livehostctl login twitch")
    }
    var login = TwitchLogin(token: Secret(token))
    login.clientID = value["clientId"]?.stringValue
    login.account = value["account"]?.stringValue
    login.renewal = value["refreshToken"]?.stringValue.map(Secret.init)
    login.origin = value["origin"]?.stringValue
    login.file = file
    return login
  }

  /// Returns the newest renewal of the login in the read-only file `original`. `file` stores the
  /// renewals. If `original` now contains another login, that login replaces the stored renewal.
  package static func renewed(_ original: String, keptIn file: String) throws(SourceError)
    -> TwitchLogin
  {
    var login = try read(file: original)
    let bytes = (try? Data(contentsOf: URL(fileURLWithPath: original))) ?? Data()
    let origin = SHA256.hash(bytes).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    if let saved = try? read(file: file), saved.origin == origin { return saved }
    login.origin = origin
    login.file = file
    // Saved now, so that an unwritable path is reported before a renewal could be lost.
    try login.save()
    return login
  }

  /// Replaces the file atomically. Only the owner can read the file.
  package func save() throws(SourceError) {
    guard let file else { return }
    var members: [JSONName: JSONValue] = ["accessToken": token.reveal { .string($0) }]
    if let clientID { members["clientId"] = .string(clientID) }
    if let account { members["account"] = .string(account) }
    if let origin { members["origin"] = .string(origin) }
    if let renewal { members["refreshToken"] = renewal.reveal { .string($0) } }
    let bytes = JSONValue.object(members).serialized() + [0x0A]
    let new = file + ".new"
    let directory = URL(fileURLWithPath: file).deletingLastPathComponent()
    do {
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      try? FileManager.default.removeItem(atPath: new)
      guard
        FileManager.default.createFile(
          atPath: new, contents: Data(bytes), attributes: [.posixPermissions: 0o600])
      else { throw CocoaError(.fileWriteUnknown) }
      let handle = try FileHandle(forUpdating: URL(fileURLWithPath: new))
      try handle.synchronize()
      try handle.close()
      guard rename(new, file) == 0 else { throw CocoaError(.fileWriteUnknown) }
    } catch {
      throw .unwritableSecret(path: file, reason: error.localizedDescription)
    }
  }

  // MARK: Requests

  /// Returns the request for the next token, or `nil` if the login cannot be renewed.
  package func renewalRequest(_ server: HTTPAddress) -> HTTPRequest? {
    guard let renewal, let clientID else { return nil }
    return renewal.reveal {
      .form(
        server.appending("/oauth2/token"),
        [("grant_type", "refresh_token"), ("client_id", clientID), ("refresh_token", $0)])
    }
  }

  /// Stores the tokens that the login server's answer contains. Returns whether it contains any.
  package mutating func store(_ answer: JSONValue) -> Bool {
    guard let token = answer["access_token"]?.stringValue, !token.isEmpty else { return false }
    self.token = Secret(token)
    if let renewal = answer["refresh_token"]?.stringValue, !renewal.isEmpty {
      self.renewal = Secret(renewal)
    }
    return true
  }

  package func authorize(_ request: inout HTTPRequest, isForLogins: Bool) {
    request.authorization = token.reveal { Secret((isForLogins ? "OAuth " : "Bearer ") + $0) }
    if !isForLogins, let clientID { request.headers.append(("Client-Id", clientID)) }
  }
}

extension HTTPRequest {
  /// Returns a request that posts a form.
  static func form(
    _ address: HTTPAddress, _ fields: [(name: String, value: String)]
  ) -> HTTPRequest {
    let text = fields.map { "\($0.name)=\($0.value.inQuery)" }.joined(separator: "&")
    return HTTPRequest(
      .post, address,
      body: Body(type: "application/x-www-form-urlencoded", Array(text.utf8)))
  }
}

import JSON
package import LiveEvents
package import LiveSources

/// Converts acts to requests of Owncast's interface for integrations, and responses to outcomes.
package struct OwncastActs: Sendable {
  /// The kinds of acts that the interface supports. It does not support bans.
  package static let kinds: [ActKind] = [.say, .delete, .setTitle]

  private let address: HTTPAddress
  private let token: Secret
  /// The kinds of acts to carry out.
  package let offered: [ActKind]

  /// - Parameters:
  ///   - address: The address of the server. Its path is not used.
  ///   - token: An access token, which the server's administration creates.
  ///   - offered: The kinds of acts that the scopes of the token allow.
  package init(_ address: HTTPAddress, token: Secret, offered: [ActKind] = Self.kinds) {
    self.address = address
    self.token = token
    self.offered = Self.kinds.filter(offered.contains)
  }

  /// The scope that an access token needs for an act.
  private static func scope(_ kind: ActKind) -> String {
    kind == .say ? "CAN_SEND_MESSAGES" : "HAS_ADMIN_ACCESS"
  }

  /// Returns the request that carries out an act, or `nil` for a kind that is not offered.
  package func request(for act: PlatformAct) -> HTTPRequest? {
    guard offered.contains(act.kind) else { return nil }
    switch (act.kind, act.text, act.message) {
    case (.say, let text?, _): return request("chat/send", ["body": .string(String(text))])
    case (.delete, _, let message?):
      return request(
        "chat/messagevisibility",
        ["idArray": .array([.string(String(message))]), "visible": .bool(false)])
    case (.setTitle, let text?, _): return request("streamtitle", ["value": .string(String(text))])
    default: return nil
    }
  }

  private func request(_ path: String, _ body: [JSONName: JSONValue]) -> HTTPRequest {
    HTTPRequest(
      .post, address.with(path: "/api/integrations/\(path)"),
      authorization: token.reveal { Secret("Bearer \($0)") },
      body: HTTPRequest.Body(type: "application/json", JSONValue.object(body).serialized()))
  }

  /// Returns the outcome of an act.
  package static func outcome(
    of kind: ActKind, _ result: Result<HTTPAnswer, HTTPFailure>
  ) -> RequestOutcome {
    switch result {
    case .failure(let failure) where failure.mayBeSent: .unknown(failure.reason)
    case .failure(let failure): .refused(reason: "Owncast cannot be reached: \(failure.reason)")
    case .success(let answer): outcome(of: kind, answer)
    }
  }

  private static func outcome(of kind: ActKind, _ answer: HTTPAnswer) -> RequestOutcome {
    let body = JSONValue(lenient: answer.body)
    let reason = (body?["message"] ?? body?["error"])?.stringValue.flatMap { $0.isEmpty ? nil : $0 }
    switch answer.status {
    case 200..<300:
      // A proxy may answer in place of Owncast, for example with a page for logging in.
      guard let isDone = body?["success"]?.looseTruth else {
        return .unknown("the answer is not Owncast's")
      }
      return isDone ? .confirmed : .refused(reason: reason ?? "Owncast refused the request")
    // Owncast answers 401 to an unknown token and to a token without the scope.
    case 401, 403:
      return .refused(
        reason: "Owncast refuses the access token: it is invalid or lacks the scope \(scope(kind))")
    case 500...: return .unknown("Owncast answered \(answer.status)")
    default: return .refused(reason: reason ?? "Owncast answered \(answer.status)")
    }
  }
}

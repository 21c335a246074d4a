import HTTPTypes
import Hummingbird

/// Refuses what other pages in the browser, other names for this machine, and people without a token ask for.
///
/// Any page may send requests to this machine, and one whose name is made to mean this machine (DNS rebinding) may
/// read the answers. So the name must be one of ours, and where the browser says which page asks, it must be this one.
struct RequestGuard: RouterMiddleware {
  typealias Context = WebContext

  /// Why a request is refused.
  enum Refusal: String, CaseIterable {
    case host, origin, site, token, right, contentType, size
  }

  let names: HostNames
  let tokens: Tokens
  let refusals: RefusalCounts

  func handle(
    _ request: Request, context: WebContext, next: (Request, WebContext) async throws -> Response
  ) async throws -> Response {
    var context = context
    let path = request.uri.path
    if let refusal = refusal(request, path: path, &context) {
      refusals.note(refusal)
      return Reply.error(refusal.status, refusal.rawValue, refusal.text)
    }
    return try await next(request, context)
  }

  private func refusal(_ request: Request, path: String, _ context: inout WebContext) -> Refusal? {
    let host = request.head.authority ?? ""
    // A second name is among the headers, and something in front of us may have gone by it.
    guard names.contains(host), request.headers[.anotherHost] == nil else { return .host }
    if let origin = request.headers[.origin],
      !["http://", "https://"].contains(where: { $0 + host == origin })
    {
      return .origin
    }
    if let site = request.headers[.secFetchSite], site != "same-origin", site != "none" {
      return .site
    }
    guard path.hasPrefix("/api/") else { return nil }
    context.right = tokens.right(of: request.headers[.livehostToken])
    if context.right == nil, request.method == .get,
      tokens.right(of: request.uri.queryParameters["t"].map(String.init)) == .reading
    {
      // Overlays cannot send a header before their page runs. It gives no more than reading even if it is the other.
      context.right = .reading
    }
    guard context.right != nil else { return .token }
    // A form cannot send it.
    if request.method == .post, request.headers[.contentType]?.hasPrefix("application/json") != true
    {
      return .contentType
    }
    return nil
  }
}

extension RequestGuard.Refusal {
  var status: HTTPResponse.Status {
    switch self {
    case .host: .misdirectedRequest
    case .token: .unauthorized
    case .contentType: .unsupportedMediaType
    case .size: .contentTooLarge
    case .origin, .site, .right: .forbidden
    }
  }

  var text: String {
    switch self {
    case .host: "this name is not one of mine; add it to 'hosts' if it is"
    case .origin, .site: "another page asks"
    case .token: "X-Livehost-Token is missing or wrong; 'livehostctl web' prints a link with it"
    case .right: "this token is for reading only"
    case .contentType: "send application/json"
    case .size: "that is more than may be sent"
    }
  }
}

extension HTTPField.Name {
  static let livehostToken = HTTPField.Name("X-Livehost-Token")!
  static let secFetchSite = HTTPField.Name("Sec-Fetch-Site")!
  /// The first one is no field of a request, but its authority.
  static let anotherHost = HTTPField.Name("Host")!
}

import HTTPTypes
import Hummingbird

/// Refuses requests from other pages and for other host names.
///
/// Any page in the browser can send requests to this machine. A page whose host name resolves to
/// this machine (DNS rebinding) can also read the responses. Therefore the host that a request
/// names must be a name of this page. If the browser reports the origin of the request, that must
/// also be this page.
struct RequestGuard: RouterMiddleware {
  typealias Context = WebContext

  enum Refusal: String, CaseIterable {
    case host, origin, site, token, right, contentType, size, flood
  }

  let names: HostNames
  let refusals: PageRefusalCounts

  func handle(
    _ request: Request, context: WebContext, next: (Request, WebContext) async throws -> Response
  ) async throws -> Response {
    if let refusal = refusal(request) { return refusals.response(to: refusal) }
    return try await next(request, context)
  }

  private func refusal(_ request: Request) -> Refusal? {
    let host = request.head.authority ?? ""
    // A request with two Host headers is refused, because a proxy in front may have checked the
    // other one.
    guard names.contains(host), request.headers[.anotherHost] == nil else { return .host }
    if let origin = request.headers[.origin],
      !["http://", "https://"].contains(where: { $0 + host == origin })
    {
      return .origin
    }
    if let site = request.headers[.secFetchSite], site != "same-origin", site != "none" {
      return .site
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
    case .flood: .tooManyRequests
    case .origin, .site, .right: .forbidden
    }
  }

  var text: String {
    switch self {
    case .host: "this host name is not allowed; add it with --host if it belongs to this page"
    case .origin, .site: "the request comes from another page"
    case .token:
      "X-Livehost-Token is missing, wrong or no longer valid; 'livehostctl web' prints a link with it"
    case .right: "the role of this link does not permit this"
    case .contentType: "send application/json"
    case .size: "the request body is too large"
    case .flood: "too many acts"
    }
  }
}

extension HTTPField.Name {
  static let livehostToken = HTTPField.Name("X-Livehost-Token")!
  static let secFetchSite = HTTPField.Name("Sec-Fetch-Site")!
  /// The second Host header of a request. The first Host header becomes the request's authority, so
  /// this field exists only if a request has two Host headers.
  static let anotherHost = HTTPField.Name("Host")!
}

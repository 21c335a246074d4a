import HTTPTypes
import Hummingbird

/// Refuses calls of the API without a valid token, and stores what the token grants.
///
/// The router's group of the API's routes applies this guard. A comparison with a prefix of the
/// path would be unsafe: the router ignores empty components, so several paths reach the same
/// route.
struct TokenGuard: RouterMiddleware {
  typealias Context = WebContext

  let control: AccessControl
  let refusals: PageRefusalCounts

  func handle(
    _ request: Request, context: WebContext, next: (Request, WebContext) async throws -> Response
  ) async throws -> Response {
    var context = context
    context.access = control.access(request.headers[.livehostToken])
    if context.access == nil, request.method == .get {
      // An overlay cannot send a header until its page is loaded.
      context.access = control.access(inAddress: request.uri.queryParameters["t"].map(String.init))
    }
    guard context.access != nil else { return refusals.response(to: .token) }
    // HTML forms cannot send this content type, so forms of other pages are refused.
    if request.method == .post, request.headers[.contentType]?.hasPrefix("application/json") != true
    {
      return refusals.response(to: .contentType)
    }
    return try await next(request, context)
  }
}

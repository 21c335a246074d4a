import HTTPTypes
import Hummingbird

/// Adds headers that make the browser run, load and display only content from this server, and send
/// no information to other servers.
struct SecurityHeaders: RouterMiddleware {
  typealias Context = WebContext

  /// Whether browsers reach this program through TLS.
  let isSecure: Bool

  private static let fields: [(HTTPField.Name, String)] = [
    (
      .contentSecurityPolicy,
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
    ),
    (.xContentTypeOptions, "nosniff"),
    (HTTPField.Name("Referrer-Policy")!, "no-referrer"),
    (HTTPField.Name("Cross-Origin-Resource-Policy")!, "same-origin"),
    (HTTPField.Name("Cross-Origin-Opener-Policy")!, "same-origin"),
  ]

  func handle(
    _ request: Request, context: WebContext, next: (Request, WebContext) async throws -> Response
  ) async throws -> Response {
    var response: Response
    do {
      response = try await next(request, context)
    } catch let error as any HTTPResponseError {
      response = Reply.error(error.status, "request", error.status.reasonPhrase)
    }
    for (name, value) in Self.fields { response.headers[name] = value }
    // Browsers apply this header to all ports of a host name, so it must not be sent for localhost,
    // which all programs of a machine share.
    if isSecure, request.head.authority?.lowercased().hasPrefix("localhost") != true {
      response.headers[.strictTransportSecurity] = "max-age=31536000"
    }
    return response
  }
}

import Glibc
import NIOCore
import NIOPosix
import NIOSSL

extension TunnelFailures {
  static func reason(ofConnecting error: any Error) -> String {
    switch error {
    case let error as NIOConnectionError:
      let errors =
        error.connectionErrors.map(\.error)
        + [error.dnsAError, error.dnsAAAAError].compactMap { $0 }
      return errors.isEmpty
        ? "has no address" : errors.map { reason(ofConnecting: $0) }.joined(separator: "; ")
    case let error as SocketAddressError.UnknownHost:
      return "the host name is unknown: \(error.errorDescription)"
    case ChannelError.connectTimeout(_): return "does not answer"
    case let error as IOError: return String(cString: strerror(error.errnoCode))
    default: return "\(error)"
    }
  }

  /// Describes why TLS has failed; `nil` if the connection merely ended.
  static func reason(ofTLS error: any Error) -> String? {
    switch error {
    case NIOSSLError.handshakeFailed(let cause): return reason(cause)
    // With TLS 1.3, the other end may refuse a certificate after the handshake.
    case let cause as BoringSSLError: return reason(cause)
    case let error as NIOSSLExtraError where error == .failedToValidateHostname:
      return "its certificate is for another name or address"
    case is NIOSSLExtraError: return "\(error)"
    case NIOSSLError.noCertificateToValidate, NIOSSLError.unableToValidateCertificate:
      return "presented no certificate"
    default: return nil
    }
  }

  private static func reason(_ error: BoringSSLError) -> String? {
    switch error {
    case .sslError(let stack), .unknownError(let stack):
      return stack.lazy.compactMap { code(of: $0) }.first.map { words(for: $0) }
    default: return nil
    }
  }

  /// Returns the library's name of an error, for example `CERTIFICATE_VERIFY_FAILED`. The library
  /// provides the name only inside a text such as `Error: 268435581 error:1000007d:SSL
  /// routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED at FILE:LINE`.
  private static func code(of error: BoringSSLInternalError) -> String? {
    let parts = "\(error)".split(separator: ":")
    guard let index = parts.firstIndex(of: "OPENSSL_internal"), index + 1 < parts.count else {
      return nil
    }
    return String(parts[index + 1].prefix { $0 != " " })
  }

  private static func words(for code: String) -> String {
    switch code {
    case "CERTIFICATE_VERIFY_FAILED":
      "its certificate has expired, or was not signed by a configured authority"
    case "PEER_DID_NOT_RETURN_A_CERTIFICATE": "presented no certificate"
    case "TLSV1_ALERT_UNKNOWN_CA": "refuses this side's certificate: unknown authority"
    case "SSLV3_ALERT_CERTIFICATE_EXPIRED": "refuses this side's certificate: expired"
    case "SSLV3_ALERT_BAD_CERTIFICATE", "SSLV3_ALERT_CERTIFICATE_UNKNOWN",
      "SSLV3_ALERT_CERTIFICATE_REVOKED", "SSLV3_ALERT_UNSUPPORTED_CERTIFICATE",
      "TLSV1_ALERT_CERTIFICATE_REQUIRED":
      "refuses this side's certificate"
    case "WRONG_VERSION_NUMBER", "HTTP_REQUEST", "HTTPS_PROXY_REQUEST": "does not speak TLS"
    default: "TLS failed: \(code.lowercased().replacing("_", with: " "))"
    }
  }
}

import HummingbirdTLS
import Locking
import NIOCore
import NIOSSL

/// The certificate of the page and its private key. Callable from any thread.
package final class PageCertificate: Sendable {
  private let certificate: String
  private let key: String
  private let newest: Guarded<Pair>

  private struct Pair: Sendable {
    let chain: [NIOSSLCertificateSource]
    let key: NIOSSLPrivateKeySource
  }

  /// Reads both PEM files. Throws if they cannot be read or do not fit together.
  package init(certificate: String, key: String) throws {
    (self.certificate, self.key) = (certificate, key)
    newest = Guarded(try Self.read(certificate, key))
  }

  /// Reads the files again, for new connections. If this fails, the old certificate stays in use.
  package func reload() throws {
    let read = try Self.read(certificate, key)
    newest.withLock { $0 = read }
  }

  /// A configuration that uses the newest certificate for each connection.
  var configuration: TLSConfiguration {
    let first = newest.withLock { $0 }
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: first.chain, privateKey: first.key)
    configuration.minimumTLSVersion = .tlsv12
    configuration.applicationProtocols = ["http/1.1"]
    configuration.sslContextCallback = { [self] _, promise in
      let current = newest.withLock { $0 }
      var change = NIOSSLContextConfigurationOverride()
      (change.certificateChain, change.privateKey) = (current.chain, current.key)
      promise.succeed(change)
    }
    return configuration
  }

  private static func read(_ certificate: String, _ key: String) throws -> Pair {
    let chain: [NIOSSLCertificateSource]
    do {
      chain = try NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) }
    } catch {
      throw Fault(
        description: "\(certificate): no certificate in PEM format can be read (\(error))")
    }
    guard !chain.isEmpty else { throw Fault(description: "\(certificate): no certificate") }
    let privateKey: NIOSSLPrivateKeySource
    do {
      privateKey = .privateKey(try NIOSSLPrivateKey(file: key, format: .pem))
    } catch {
      throw Fault(description: "\(key): no private key in PEM format can be read (\(error))")
    }
    do {
      _ = try NIOSSLContext(
        configuration: .makeServerConfiguration(certificateChain: chain, privateKey: privateKey))
    } catch {
      throw Fault(description: "\(key): not the private key of \(certificate) (\(error))")
    }
    return Pair(chain: chain, key: privateKey)
  }

  package struct Fault: Error, CustomStringConvertible {
    package let description: String
  }
}

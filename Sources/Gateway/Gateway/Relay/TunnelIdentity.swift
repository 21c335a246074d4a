import NIOSSL

extension Tunnel {
  /// The certificates and the private key of one end of a tunnel.
  package struct Identity: Sendable {
    /// The path of a PEM file with this end's certificate chain.
    package var certificate: String
    /// The path of a PEM file with the certificate's private key.
    package var key: String
    /// The path of a PEM file with the authorities that sign the other end's certificates.
    package var authorities: String

    package init(certificate: String, key: String, authorities: String) {
      (self.certificate, self.key, self.authorities) = (certificate, key, authorities)
    }

    /// Loads the three files, and checks that the key belongs to the certificate.
    /// - Throws: the first file that cannot be used, with the reason.
    package func check() throws(UnusableFile) { _ = try client() }

    func client() throws(UnusableFile) -> NIOSSLContext {
      let files = try load()
      var configuration = TLSConfiguration.makeClientConfiguration()
      configuration.certificateChain = files.chain
      configuration.privateKey = files.key
      configuration.trustRoots = files.authorities
      return try context(configuration)
    }

    func server() throws(UnusableFile) -> NIOSSLContext {
      let files = try load()
      // The names of clients are not checked: every client certificate signed by the authorities is
      // accepted.
      return try context(
        .makeServerConfigurationWithMTLS(
          certificateChain: files.chain, privateKey: files.key, trustRoots: files.authorities))
    }

    private func context(
      _ configuration: TLSConfiguration
    ) throws(UnusableFile) -> NIOSSLContext {
      var configuration = configuration
      configuration.minimumTLSVersion = .tlsv12
      do { return try NIOSSLContext(configuration: configuration) } catch {
        throw UnusableFile(
          path: key, reason: "does not belong to the certificate in \(certificate)")
      }
    }

    private typealias Files = (
      chain: [NIOSSLCertificateSource], key: NIOSSLPrivateKeySource, authorities: NIOSSLTrustRoots
    )

    private func load() throws(UnusableFile) -> Files {
      let chain = try loadCertificates(certificate)
      return (
        chain.map { .certificate($0) }, .privateKey(try loadKey()),
        .certificates(try loadCertificates(authorities))
      )
    }

    private func loadCertificates(_ path: String) throws(UnusableFile) -> [NIOSSLCertificate] {
      try UnusableFile.check(path)
      do { return try NIOSSLCertificate.fromPEMFile(path) } catch {
        throw UnusableFile(path: path, reason: "contains no certificate in PEM format")
      }
    }

    private func loadKey() throws(UnusableFile) -> NIOSSLPrivateKey {
      try UnusableFile.check(key)
      do { return try NIOSSLPrivateKey(file: key, format: .pem) } catch {
        throw UnusableFile(
          path: key, reason: "contains no private key in PEM format, or the key has a passphrase")
      }
    }
  }
}

import Foundation
import NIOSSL

/// Certificates for tests, valid for a hundred years: of an authority, and of two servers that it
/// has certified.
enum TestCertificates {
  /// Writes the authority's certificate to a file and returns its path.
  static func authorityFile() throws -> String {
    let path = NSTemporaryDirectory() + "authority-\(UUID().uuidString).pem"
    try Data(authority.utf8).write(to: URL(fileURLWithPath: path))
    return path
  }

  /// Returns a server's TLS context, with the certificate for `localhost` or for another name.
  static func server(isForLocalhost: Bool) throws -> NIOSSLContext {
    let (certificate, key) = isForLocalhost ? (localhost, localhostKey) : (other, otherKey)
    let configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: [
        .certificate(try NIOSSLCertificate(bytes: Array(certificate.utf8), format: .pem))
      ],
      privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem)))
    return try NIOSSLContext(configuration: configuration)
  }

  private static let authority = """
    -----BEGIN CERTIFICATE-----
    MIIBmjCCAUGgAwIBAgIUExXfdHzOdHzNBheurraV4r70YG0wCgYIKoZIzj0EAwIw
    IjEgMB4GA1UEAwwXbGl2ZWhvc3QgdGVzdCBhdXRob3JpdHkwIBcNMjYxMTIzMTU1
    ODQ4WhgPMjEyNjEwMzAxNTU4NDhaMCIxIDAeBgNVBAMMF2xpdmVob3N0IHRlc3Qg
    YXV0aG9yaXR5MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEaqjTH+JvFX89kKs6
    WID7O+Cx9rbq9EElXBH3w0qY+tiiaXcOa3+FYZoZ+NtAs+/5i3DyuLTPg1/LBbcf
    UdslKqNTMFEwHQYDVR0OBBYEFEZ31sfGfub2gcpi1ykiORq41rppMB8GA1UdIwQY
    MBaAFEZ31sfGfub2gcpi1ykiORq41rppMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZI
    zj0EAwIDRwAwRAIgPkE3bCPSPmJs+YyfdK6SlFxpKWBhVJbSBG6RpelLkLICIE8c
    fzevjlZ3Ri9CTzlRJMHeXTbZPDIhjV6onqrB1RmS
    -----END CERTIFICATE-----
    """

  private static let localhost = """
    -----BEGIN CERTIFICATE-----
    MIIBqDCCAU2gAwIBAgIUTTnPK5ewuwdSmGpAYNbX4vrm+CEwCgYIKoZIzj0EAwIw
    IjEgMB4GA1UEAwwXbGl2ZWhvc3QgdGVzdCBhdXRob3JpdHkwIBcNMjYxMTIzMTU1
    ODQ4WhgPMjEyNjEwMzAxNTU4NDhaMBQxEjAQBgNVBAMMCWxvY2FsaG9zdDBZMBMG
    ByqGSM49AgEGCCqGSM49AwEHA0IABGB+Le3QR3N7AS65iCLOZXccvi612YWz2c8C
    c9CnbPpxZWb0AtJyhMtOMD3J+mQXsG5dCi/g85zpDZOEC6adYsqjbTBrMBQGA1Ud
    EQQNMAuCCWxvY2FsaG9zdDATBgNVHSUEDDAKBggrBgEFBQcDATAdBgNVHQ4EFgQU
    jjGSnbebDJbRAx7gM1i7+To1NSswHwYDVR0jBBgwFoAURnfWx8Z+5vaBymLXKSI5
    GrjWumkwCgYIKoZIzj0EAwIDSQAwRgIhAP6FD6RxB2d0pxCC6VkceaufH1LP1215
    QfV2Nj7V2FeuAiEAgplhD8xva59uFmZ0ezTnUoEBWv80RLCf/diaDYZGKus=
    -----END CERTIFICATE-----
    """

  private static let localhostKey = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgMO9JjbTjalxCeLIp
    tGxXsd8JlQOQqUG+u5lyR3spAhChRANCAARgfi3t0EdzewEuuYgizmV3HL4utdmF
    s9nPAnPQp2z6cWVm9ALScoTLTjA9yfpkF7BuXQov4POc6Q2ThAumnWLK
    -----END PRIVATE KEY-----
    """

  private static let other = """
    -----BEGIN CERTIFICATE-----
    MIIBrzCCAVWgAwIBAgIUTTnPK5ewuwdSmGpAYNbX4vrm+CIwCgYIKoZIzj0EAwIw
    IjEgMB4GA1UEAwwXbGl2ZWhvc3QgdGVzdCBhdXRob3JpdHkwIBcNMjYxMTIzMTU1
    ODQ4WhgPMjEyNjEwMzAxNTU4NDhaMBgxFjAUBgNVBAMMDW90aGVyLmV4YW1wbGUw
    WTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAT++vQTL+0lInUvZiun8BOcfOqdW/yz
    NeQgvWIksLrLdfg4oT6c65gvK6g3HpGT/PCusdyA+0QRLoFoj9rAV9sXo3EwbzAY
    BgNVHREEETAPgg1vdGhlci5leGFtcGxlMBMGA1UdJQQMMAoGCCsGAQUFBwMBMB0G
    A1UdDgQWBBSMagGBk9DniOvEG0Czakg5i6gZdjAfBgNVHSMEGDAWgBRGd9bHxn7m
    9oHKYtcpIjkauNa6aTAKBggqhkjOPQQDAgNIADBFAiEA8G2RZCFtSMWB7J1Hb+O/
    WpZz8cMrx4eRpLqEAebAg8YCIH9mmsRMepZjpphlKwx3pEZetfESaA0pjoPX9epA
    9trt
    -----END CERTIFICATE-----
    """

  private static let otherKey = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgNg6u0B8yq730bMH4
    1uhjUZdSVmFK5C8tUOgczS0MnpahRANCAAT++vQTL+0lInUvZiun8BOcfOqdW/yz
    NeQgvWIksLrLdfg4oT6c65gvK6g3HpGT/PCusdyA+0QRLoFoj9rAV9sX
    -----END PRIVATE KEY-----
    """
}

import Glibc
import Systemd
import Testing

@Suite struct ActivatedDescriptorsTests {
  @Test func `inherited listening stream sockets are returned sorted by name`() throws {
    let unix = Sockets.make(AF_UNIX, SOCK_STREAM, listening: true)
    let inet = Sockets.make(AF_INET, SOCK_STREAM, listening: true)
    let second = Sockets.make(AF_UNIX, SOCK_STREAM, listening: true)
    defer { for descriptor in [unix, inet, second] { close(descriptor) } }
    let found = try ActivatedDescriptors(sorting: [
      ("varlink", unix), ("http", inet), ("varlink", second),
    ])
    #expect(found.sockets == ["varlink": [unix, second], "http": [inet]])
    #expect(try found.socket(named: "http") == inet)
    #expect(try found.socket(named: "ingest") == nil)
    #expect(throws: ActivatedDescriptors.Failure.ambiguous(name: "varlink", count: 2)) {
      try found.socket(named: "varlink")
    }
  }

  @Test func `an inherited descriptor that is not a listening socket is refused with its name`() {
    let datagram = Sockets.make(AF_UNIX, SOCK_DGRAM, listening: false)
    let silent = Sockets.make(AF_UNIX, SOCK_STREAM, listening: false)
    let packets = Sockets.make(AF_UNIX, SOCK_SEQPACKET, listening: true)
    let file = open("/dev/null", O_RDONLY)
    defer { for descriptor in [datagram, silent, packets, file] { close(descriptor) } }
    for descriptor in [datagram, silent, packets, file, -1] {
      #expect(
        throws: ActivatedDescriptors.Failure.unusable(name: "varlink", descriptor: descriptor)
      ) {
        try ActivatedDescriptors(sorting: [("varlink", descriptor)])
      }
    }
  }
}

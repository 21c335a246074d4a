import ControlInterface
import RateLimiting
import Testing
import WebService

@Suite struct MethodRoleTests {
  /// The methods of the control interface, read from its description.
  private static var methods: [String] {
    ControlInterface.definition.matches(of: /(?m)^method ([A-Za-z]+)/).map { String($0.1) }
  }

  @Test func `a viewer may call exactly the methods that change nothing`() {
    #expect(Self.methods.count > 30)
    for method in Self.methods {
      #expect(
        (MethodRoles.least(for: method) == .viewer)
          == !ControlInterface.privilegedMethods.contains(method), "\(method)")
    }
  }

  @Test(arguments: [
    "SetControl", "RecordElsewhere", "StartRecording", "StopRecording", "DeleteRecording",
    "OpenRoom", "CloseRoom", "SendEvents", "MonitorRequests", "ReportOutcome", "Simulate",
    "StartTask", "CancelTask", "NoSuchMethod", "", "act", "getRoom",
  ])
  func `only a host may call other methods, including unknown ones`(method: String) {
    #expect(MethodRoles.least(for: method) == .host)
  }

  @Test(arguments: ["setTitle", "setCategory", "setShield", "mark", "Say", "unheardOf", nil])
  func `acts on the stream require a host, and so does an unknown kind`(kind: String?) {
    #expect(MethodRoles.least(forAct: kind) == .host)
  }

  @Test(arguments: ["say", "reply", "delete", "timeOut", "ban", "unban"])
  func `a moderator acts in the chat`(kind: String) {
    #expect(MethodRoles.least(forAct: kind) == .moderator)
  }

  @Test func `roles are ordered by what they permit`() {
    #expect(PageRole.viewer < .moderator && PageRole.moderator < .host)
    #expect(PageRole.allCases.sorted() == PageRole.allCases)
  }
}

@Suite struct ActAllowanceTests {
  private func seconds(_ count: Double) -> Instant {
    Instant(nanoseconds: Int64(count * 1_000_000_000))
  }

  @Test func `twenty acts together are allowed, then two per second`() {
    var allowance = ActAllowance()
    for number in 0..<20 { #expect(allowance.consume(at: seconds(100)) == nil, "\(number)") }
    #expect(allowance.consume(at: seconds(100)) == .milliseconds(500))
    #expect(allowance.consume(at: seconds(100.4)) == .milliseconds(100))
    #expect(allowance.consume(at: seconds(100.5)) == nil)
    #expect(allowance.consume(at: seconds(100.5)) == .milliseconds(500))
    for tick in 2...20 { #expect(allowance.consume(at: seconds(100 + 0.5 * Double(tick))) == nil) }
  }

  @Test func `after ten quiet seconds, the whole burst is available again, but no more`() {
    var allowance = ActAllowance()
    for _ in 0..<20 { _ = allowance.consume(at: seconds(0)) }
    for _ in 0..<20 { #expect(allowance.consume(at: seconds(10)) == nil) }
    #expect(allowance.consume(at: seconds(10)) != nil)
    for _ in 0..<20 { #expect(allowance.consume(at: seconds(10_000)) == nil) }
    #expect(allowance.consume(at: seconds(10_000)) != nil)
  }

  @Test func `a refused act does not extend the wait`() {
    var allowance = ActAllowance()
    for _ in 0..<20 { _ = allowance.consume(at: seconds(0)) }
    for _ in 0..<1_000 { #expect(allowance.consume(at: seconds(0.1)) == .milliseconds(400)) }
    #expect(allowance.consume(at: seconds(0.5)) == nil)
  }
}

@Suite struct ListenAddressTests {
  @Test func `addresses of this machine alone are distinguished from others`() {
    for text in ["127.0.0.1", "127.9.8.7", "::1", "0:0:0:0:0:0:0:1"] {
      #expect(ListenAddress(text)?.isLoopback == true, "\(text)")
    }
    for text in ["0.0.0.0", "::", "192.168.1.5", "fe80::1", "::ffff:127.0.0.1", "128.0.0.1"] {
      #expect(ListenAddress(text)?.isLoopback == false, "\(text)")
    }
    #expect(ListenAddress("0.0.0.0")?.isWildcard == true)
    #expect(ListenAddress("::")?.isWildcard == true)
    #expect(ListenAddress("::1")?.isWildcard == false)
    #expect(ListenAddress("::1")?.host == "[::1]")
    #expect(ListenAddress("192.168.1.5")?.hosts == ["192.168.1.5"])
    for text in ["127.0.0.1", "::1", "0.0.0.0", "::"] { #expect(ListenAddress(text)?.hosts == []) }
  }

  @Test(arguments: ["", "localhost", "127.1", "127.0.0.1:80", "[::1]", "0x7f.1", "1.2.3.4.5"])
  func `a text that is not an IP address is rejected`(text: String) {
    #expect(ListenAddress(text) == nil)
  }
}

@Suite struct PageLinksTests {
  @Test func `links are read from both forms of the file`() {
    let links = PageLinks(base: "https://page.example", Tokens())
    #expect(PageLinks(links.text) == links)
    #expect(PageLinks(links.json) == links)
    #expect(links.base == "https://page.example")
    #expect(PageLinks("") == nil && PageLinks("{}") == nil && PageLinks("a\nb\n") == nil)
  }
}

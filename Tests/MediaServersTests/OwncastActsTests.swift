import LiveEvents
import LiveSources
import MediaServers
import Testing

struct OwncastActsTests {
  private static func acts(_ offered: [ActKind] = OwncastActs.kinds) throws -> OwncastActs {
    let address = try #require(HTTPAddress("https://stream.example/embed?x=1"))
    return OwncastActs(address, token: Secret("t0ken"), offered: offered)
  }

  @Test(
    arguments: [
      (
        try PlatformAct(.say, text: #"a "quoted" \ text"#), "chat/send",
        #"{"body":"a \"quoted\" \\ text"}"#
      ),
      (
        try PlatformAct(.delete, message: "m\"1"), "chat/messagevisibility",
        #"{"idArray":["m\"1"],"visible":false}"#
      ),
      (try PlatformAct(.setTitle, text: "New"), "streamtitle", #"{"value":"New"}"#),
    ] as [(PlatformAct, String, String)])
  func `each act is one request with the access token`(
    act: PlatformAct, path: String, body: String
  ) throws {
    let request = try #require(try Self.acts().request(for: act))
    #expect(request.method == .post)
    #expect(
      request.address.description == "https://stream.example:443/api/integrations/\(path)")
    #expect(request.authorization?.reveal { $0 } == "Bearer t0ken")
    #expect(request.body?.type == "application/json")
    #expect(request.body.map { String(decoding: $0.bytes, as: UTF8.self) } == body)
  }

  @Test func `an act that is not offered has no request`() throws {
    let acts = try Self.acts([.say, .ban])
    #expect(acts.offered == [.say])
    #expect(acts.request(for: try PlatformAct(.setTitle, text: "New")) == nil)
    let ada = Person(id: "u1", name: "Ada")
    #expect(acts.request(for: try PlatformAct(.ban, person: ada)) == nil)
  }

  private static let denied = "Owncast refuses the access token: it is invalid or lacks the scope "

  @Test(
    arguments: [
      (.say, 200, #"{"success":true,"message":"sent"}"#, .confirmed),
      (
        .say, 200, #"{"success":false,"message":"chat is off"}"#, .refused(reason: "chat is off")
      ),
      (.say, 400, #"{"error":"invalid message"}"#, .refused(reason: "invalid message")),
      (.say, 400, #"{"error":{}}"#, .refused(reason: "Owncast answered 400")),
      (.say, 401, "unauthorized", .refused(reason: denied + "CAN_SEND_MESSAGES")),
      (.delete, 401, "unauthorized", .refused(reason: denied + "HAS_ADMIN_ACCESS")),
      (.setTitle, 403, "", .refused(reason: denied + "HAS_ADMIN_ACCESS")),
      (.say, 404, "<html>", .refused(reason: "Owncast answered 404")),
      (.say, 302, "", .refused(reason: "Owncast answered 302")),
      (.say, 200, "<html>", .unknown("the answer is not Owncast's")),
      (.say, 502, "", .unknown("Owncast answered 502")),
    ] as [(ActKind, Int, String, RequestOutcome)])
  func `the response determines the outcome`(
    kind: ActKind, status: Int, body: String, outcome: RequestOutcome
  ) {
    let answer = HTTPAnswer(status: status, body: Array(body.utf8))
    #expect(OwncastActs.outcome(of: kind, .success(answer)) == outcome)
  }

  @Test func `only a request that was not sent has a known outcome without a response`() {
    #expect(
      OwncastActs.outcome(
        of: .say, .failure(HTTPFailure(reason: "Connection refused", mayBeSent: false)))
        == .refused(reason: "Owncast cannot be reached: Connection refused"))
    #expect(
      OwncastActs.outcome(of: .say, .failure(HTTPFailure(reason: "the request timed out")))
        == .refused(reason: "the outcome is unknown: the request timed out"))
  }

  @Test func `the token is not printed with the acts`() throws {
    var text = ""
    dump(try Self.acts(), to: &text)
    #expect(!text.contains("t0ken"))
  }
}

import CommandLineTool
import TerminalScreen
import Testing

@Suite struct ProcessEnvironmentTests {
  @Test func `the locale decides whether the output may contain non-ASCII characters`() {
    let environment = { ProcessEnvironment(variables: $0, userID: 0).usesUTF8 }
    #expect(environment(["LANG": "ko_KR.UTF-8"]))
    #expect(environment(["LANG": "C", "LC_ALL": "C.utf8"]))
    #expect(!environment(["LANG": "C.UTF-8", "LC_ALL": "C"]))
    #expect(!environment([:]))
  }

  @Test func `variables of the environment decide which colours the output may contain`() {
    let environment = { ProcessEnvironment(variables: $0, userID: 0).palette }
    #expect(environment(["COLORTERM": "truecolor"]) == .all)
    #expect(environment(["TERM": "xterm"]) == .eight)
    #expect(environment(["COLORTERM": "truecolor", "NO_COLOR": "1"]) == .none)
  }
}

import HostScreen
import Testing
import ViewGraph

struct HangClassTests {
  static let lengths: [(UInt64, HangClass)] = [
    (0, .instant), (99_999_999, .instant), (100_000_000, .late), (249_999_999, .late),
    (250_000_000, .microhang), (499_999_999, .microhang), (500_000_000, .hang),
    (UInt64.max, .hang),
  ]

  @Test(arguments: lengths)
  func `a turn of exactly the length of a bound belongs to the worse hang class`(
    nanoseconds: UInt64, expected: HangClass
  ) {
    #expect(HangClass(nanoseconds: nanoseconds) == expected)
  }

  @Test func `hang classes are ordered from good to bad`() {
    #expect(HangClass.allCases == HangClass.allCases.sorted())
  }
}

import CLibFuzzer
import WireFormats

// livehost-fuzz PARSER [OPTION OF LIBFUZZER...] [CORPUS...]: looks for bytes that make a parser crash, hang,
// use much memory or break a rule. Built and run by Tests/Fuzzing/fuzz.sh.

let parsers: [(name: String, make: () throws -> any Parser)] = [
  ("lines", { LineParser(nil) }),
  ("native", { LineParser(.native) }),
  ("irc", { LineParser(.twitchIRC) }),
  ("varlink", { try VarlinkParser() }),
  ("interface", { InterfaceParser() }),
  ("configuration", { ConfigurationParser() }),
  ("scenario", { try ScenarioParser() }),
  ("device", { try DeviceParser() }),
  ("recording", { try RecordingParser() }),
  ("snapshot", { try SnapshotParser() }),
]

guard let name = CommandLine.arguments.dropFirst().first,
  let parser = parsers.first(where: { $0.name == name })
else {
  fatalError("usage: livehost-fuzz \(parsers.map(\.name).joined(separator: "|")) [OPTION...]")
}
UnderTest.parser = try parser.make()

// libFuzzer takes everything after the name of the parser.
var count = CommandLine.argc - 1
var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv + 1
_ = LLVMFuzzerRunDriver(&count, &arguments) { start, count in
  UnderTest.parser?.read(UnsafeBufferPointer(start: start, count: count))
  return 0
}

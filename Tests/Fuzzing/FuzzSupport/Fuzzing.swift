internal import CLibFuzzer

/// The parser under test. A global is needed because libFuzzer calls a C function without a
/// context.
private enum UnderTest {
  nonisolated(unsafe) static var parser: (any Parser)?
}

/// Runs libFuzzer with the program's arguments: `PARSER [OPTION OF LIBFUZZER...] [CORPUS...]`.
/// libFuzzer searches for bytes that make the parser crash, hang, use too much memory or break a
/// rule.
///
/// - Parameter parsers: closures that create the program's parsers, by name.
public func fuzz(_ parsers: KeyValuePairs<String, () throws -> any Parser>) throws {
  guard let name = CommandLine.arguments.dropFirst().first,
    let parser = parsers.first(where: { $0.key == name })
  else {
    fatalError("the first argument is one of: \(parsers.map(\.key).joined(separator: ", "))")
  }
  UnderTest.parser = try parser.value()
  // libFuzzer gets all arguments after the name of the parser.
  var count = CommandLine.argc - 1
  var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv + 1
  _ = LLVMFuzzerRunDriver(&count, &arguments) { start, count in
    UnderTest.parser?.read(UnsafeBufferPointer(start: start, count: count))
    return 0
  }
}

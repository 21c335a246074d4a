import Foundation
import VarlinkDescription

// varlink-generate DEFINITION NAMES OUTPUT: see `GeneratedSource`. Run by the plugin VarlinkTypes.
guard CommandLine.arguments.count == 4 else {
  fail("usage: varlink-generate DEFINITION NAMES OUTPUT")
}
let (definition, names, output) = (
  CommandLine.arguments[1], CommandLine.arguments[2], CommandLine.arguments[3]
)
do {
  let description = try InterfaceDescription(parsing: read(definition))
  let source = try GeneratedSource(of: description, named: SwiftNames(parsing: read(names)))
  try source.text.write(toFile: output, atomically: true, encoding: .utf8)
} catch let error as DescriptionError {
  fail("\(definition):\(error)")
} catch let error as GenerationError {
  fail("\(names): \(error)")
} catch {
  fail("\(error)")
}

func read(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

func fail(_ message: String) -> Never {
  FileHandle.standardError.write(Data("error: \(message)\n".utf8))
  exit(1)
}

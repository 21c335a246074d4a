import Foundation
import PackagePlugin

/// Generates the Swift types of each interface definition (`NAME.varlink`) in a target, with the
/// Swift names from `NAME.names` in the same folder.
@main struct VarlinkTypes: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    guard let target = target as? any SourceModuleTarget else { return [] }
    let tool = try context.tool(named: "varlink-generate").url
    return target.sourceFiles(withSuffix: ".varlink").map { file in
      let base = file.url.deletingPathExtension()
      let names = base.appendingPathExtension("names")
      let output = context.pluginWorkDirectoryURL.appending(
        component: "\(base.lastPathComponent).swift")
      return .buildCommand(
        displayName: "Generating Swift types of \(base.lastPathComponent)", executable: tool,
        arguments: [file.url.path(), names.path(), output.path()], inputFiles: [file.url, names],
        outputFiles: [output])
    }
  }
}

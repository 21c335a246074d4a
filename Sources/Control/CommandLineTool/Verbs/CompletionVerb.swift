import ArgumentParser
import JSON

struct CompletionVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "completion", abstract: "Print a shell's completion script.",
    discussion: """
      The Debian package installs the scripts. For a program built by hand, in bash:
        source <(livehostctl completion bash)
      JSON: an object with the members shell and script.
      """)

  enum Shell: String, CaseIterable, ExpressibleByArgument {
    case bash, zsh, fish

    var kind: CompletionShell {
      switch self {
      case .bash: .bash
      case .zsh: .zsh
      case .fish: .fish
      }
    }
  }

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "The shell.") var shell: Shell

  func run(_ context: Context) async throws {
    let script = shell.kind.script
    try context.print(["shell": .string(shell.rawValue), "script": .string(script)]) { [script] }
  }
}

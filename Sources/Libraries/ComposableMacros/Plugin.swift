import SwiftCompilerPlugin
import SwiftSyntax
import SwiftSyntaxMacros

@main
struct ComposablePlugin: CompilerPlugin {
  let providingMacros: [any Macro.Type] = [
    ObservableStateMacro.self, ObservationStateFieldMacro.self, ObservationStateIgnoredMacro.self,
    CasePathableMacro.self, ReducerMacro.self, DependencyMacro.self,
  ]
}

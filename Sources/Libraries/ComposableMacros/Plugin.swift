import SwiftCompilerPlugin
import SwiftSyntax
import SwiftSyntaxMacros

/// The compiler plug-in that provides the macros.
@main
struct ComposablePlugin: CompilerPlugin {
  let providingMacros: [any Macro.Type] = [
    ObservableStateMacro.self, ObservationStateFieldMacro.self, ObservationStateIgnoredMacro.self,
    CasePathableMacro.self, ReducerMacro.self, DependencyMacro.self,
  ]
}

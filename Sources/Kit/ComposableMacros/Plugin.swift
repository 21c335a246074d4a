import SwiftCompilerPlugin
import SwiftSyntax
import SwiftSyntaxMacros

/// The macros that the compiler may ask for.
@main
struct ComposablePlugin: CompilerPlugin {
  let providingMacros: [any Macro.Type] = [
    ObservableStateMacro.self, ObservationStateFieldMacro.self, ObservationStateIgnoredMacro.self,
    CasePathableMacro.self, ReducerMacro.self, DependencyMacro.self,
  ]
}

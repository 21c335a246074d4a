import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// Finds constructs that prevent the fields of a struct from being observed, and offers fix-its.
struct StateCheck {
  private let declaration: StructDeclSyntax
  private let fields: [StoredField]
  private let attribute: AttributeSyntax

  init(_ declaration: StructDeclSyntax, _ attribute: AttributeSyntax) {
    self.declaration = declaration
    fields = declaration.storedFields
    self.attribute = attribute
  }

  /// Whether the struct can be expanded. Only the member role of the macro reports problems; the
  /// other roles then generate nothing, so that no further errors follow from the first one.
  var passes: Bool { findings.isEmpty }

  private var findings: [Finding] {
    whole + members + idleMarks + fields.flatMap(findings(in:))
  }

  /// Returns whether the struct can be expanded, and reports problems.
  func passes(in context: some MacroExpansionContext) -> Bool {
    let findings = findings
    for finding in findings {
      context.report(finding.message, at: finding.node, fixIts: finding.fixIts)
    }
    return findings.isEmpty
  }

  private struct Finding {
    let message: MacroMessage
    let node: Syntax
    var fixIts: [FixIt] = []
  }

  /// The findings about the whole type.
  private var whole: [Finding] {
    var findings: [Finding] = []
    if fields.count > 126 {
      findings.append(Finding(message: .tooManyFields(fields.count), node: Syntax(attribute)))
    }
    if declaration.declaresType(named: "CodingKeys") {
      findings.append(Finding(message: .ownCodingKeys, node: Syntax(attribute)))
    }
    for member in declaration.memberBlock.members {
      guard let name = member.decl.asProtocol((any NamedDeclSyntax).self)?.name.text,
        ["Fields", "Lenses"].contains(name)
      else { continue }
      findings.append(Finding(message: .ownMemberName(name), node: Syntax(member.decl)))
    }
    return findings
  }

  /// The findings about declarations with several fields.
  private var members: [Finding] {
    declaration.memberBlock.members.compactMap { member in
      guard let variable = member.decl.as(VariableDeclSyntax.self), !variable.isStatic,
        variable.bindingSpecifier.tokenKind == .keyword(.var), variable.bindings.count > 1
      else { return nil }
      let fixIts: [FixIt] =
        variable.split.map { parts in
          [
            FixIt(
              message: Remedy("split the declaration"),
              changes: [
                .replace(
                  oldNode: Syntax(declaration.memberBlock.members),
                  newNode: Syntax(
                    MemberBlockItemListSyntax(
                      declaration.memberBlock.members.flatMap { other in
                        other.id == member.id ? parts : [other]
                      })))
              ])
          ]
        } ?? []
      return Finding(message: .severalBindings, node: Syntax(variable), fixIts: fixIts)
    }
  }

  /// The findings about attributes on declarations that are not fields.
  private var idleMarks: [Finding] {
    declaration.memberBlock.members.compactMap { member in
      guard let variable = member.decl.as(VariableDeclSyntax.self), !variable.isObservable,
        let mark = variable.attributes.lazy.compactMap({ $0.as(AttributeSyntax.self) })
          .first(where: { $0.attributeName.trimmedDescription == "ObservationStateIgnored" })
      else { return nil }
      return Finding(
        message: .ignoredWithoutField, node: Syntax(mark), fixIts: [.remove(mark, from: variable)])
    }
  }

  private func findings(in field: StoredField) -> [Finding] {
    let variable = field.declaration
    var findings: [Finding] = []
    if let observer = variable.observers {
      findings.append(
        Finding(
          message: .propertyObserver(field: field.name, kind: observer.accessorSpecifier.text),
          node: Syntax(observer),
          fixIts: variable.bindings.first.map { binding in
            [
              .replace(
                binding,
                by: binding.with(\.accessorBlock, nil).with(\.trailingTrivia, []),
                "remove the observer")
            ]
          } ?? []))
    }
    if let lazy = variable.modifiers.first(where: { $0.name.tokenKind == .keyword(.lazy) }) {
      let rest = variable.modifiers.filter { $0.id != lazy.id }
      findings.append(
        Finding(
          message: .lazyField(field: field.name), node: Syntax(lazy),
          fixIts: [
            .replace(
              variable, by: variable.with(\.modifiers, rest).led(like: variable), "remove 'lazy'")
          ]))
    }
    for case .attribute(let wrapper) in variable.attributes {
      let name = wrapper.attributeName.trimmedDescription
      guard name.first?.isUppercase == true, !name.hasPrefix("ObservationState") else { continue }
      findings.append(
        Finding(
          message: Elsewhere.remedy(for: name, of: field.name)
            ?? .wrapper(field: field.name, wrapper: name),
          node: Syntax(wrapper),
          fixIts: [.remove(wrapper, from: variable)]))
    }
    if field.type == nil, let binding = variable.bindings.first {
      findings.append(
        Finding(
          message: .needsType(field: field.name), node: Syntax(binding.pattern),
          fixIts: [.replace(binding, by: binding.annotated(field.name), "add a type annotation")]))
    }
    return findings
  }
}

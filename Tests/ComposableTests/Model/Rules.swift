import Foundation
import Testing

/// The rules of the article "What happens when". Each entry has the beginning of the rule's text,
/// the rules of the fuzzer that apply it, and, where these are not sufficient, the names of tests.
private let page: [(rule: String, fuzzed: [String], tests: [String])] = [
  (
    "A send reduces its action immediately",
    [
      "follow-up actions are reduced immediately",
      "follow-up actions precede the next action of the effect",
    ],
    []
  ),
  (
    "A send from within a reducer or an observer",
    ["an action sent while reducing comes after the follow-up actions"], []
  ),
  ("`send` in an effect posts", ["the actions of an effect arrive in order"], []),
  (
    "A child runs before its parent", ["a child is removed by the action that starts its effect"],
    ["a child runs before its parent, and its siblings do not run"]
  ),
  (
    "An action for an absent child",
    ["an action for an absent child is counted", "a dismissal of an absent child is counted"], []
  ),
  (
    "If more than 10,000 actions follow from one action",
    ["an endless chain of actions is stopped"], []
  ),
  (
    "An effect starts after the reducer has returned",
    ["an effect that its own action cancels does not run"], []
  ),
  (
    "An effect runs on the store's lane, before and after each suspension", [],
    [
      "an effect on the lane waits for the lane's turn and has the given name and priority",
      "an effect can run on the pool; its actions return to the lane",
    ]
  ),
  (
    "Actions that a cancelled effect still sends",
    [
      "actions of a cancelled effect are dropped silently",
      "an action of an effect that has ended is reported",
    ], []
  ),
  (
    "An identifier belongs to the child",
    ["an identifier is local to the child", "a parent cancels an effect of a child"], []
  ),
  ("An error that an effect does not catch", ["an uncaught error is reported"], []),
  (
    "A parent may call a child's reducer directly", [],
    [
      "cancelling by the identifier of a composed effect also cancels the child effects in it",
      "random compositions of effects behave like the model",
    ]
  ),
  (
    "The parts of a sequence", [],
    [
      "random compositions of effects behave like the model",
      "a sequence of effects waits for a debounced part",
      "a sequence of effects waits for the effects of children",
      "each part of a sequence keeps its own identifiers",
      "a part of a sequence can cancel effects that were in flight before the part began",
      "a part of a sequence may be a cancellation",
    ]
  ),
  (
    "A part that does not run to its end", [],
    [
      "random compositions of effects behave like the model",
      "cancelling one effect of a part leaves its other effects running but ends the sequence",
      "a task that throws CancellationError ends its sequence without a failure",
    ]
  ),
  ("The effects of a child end with the action", ["effects end with their child"], []),
  (
    "The effects also end when the child is replaced",
    [
      "effects end when the child is replaced", "a row is removed and re-added in one action",
      "another case or payload of an enum is another child",
      "a new child's effect ends the effects of the previous child",
    ], []
  ),
  (
    "A state without an `id`",
    [
      "a replaced child without an id counts as the same",
      "elements of a new collection count as the same",
    ], []
  ),
  (
    "If a reducer other than the parent removes the child",
    ["a late result does not reach another child"], []
  ),
  (
    "``Effect/dismiss`` sets the field",
    [
      "a child presented during a dismissal stays",
      "a dismissal without a presenting parent is reported",
    ], []
  ),
  (
    "A screen of a ``StackState`` that returns", [],
    ["a screen that dismisses itself is popped by an action"]
  ),
  (
    "A stack that only its parent changes", [],
    [
      "a screen that dismisses itself is popped with the screens above",
      "a screen inside a sheet is popped, and the sheet stays",
      "screens pushed in the same action as a dismissal stay",
      "a dismissal that follows a task in a sequence is reported as a failure",
    ]
  ),
  (
    "A newly assigned alert", [],
    ["an alert that an action shows again stays, even if equal, and observers are notified"]
  ),
  (
    "A ``StackState`` never reuses the number", [],
    ["an action for a popped screen reaches no other screen"]
  ),
  (
    "A throttle runs the first effect",
    ["a throttle runs the first effect", "a throttle runs the newest effect"], []
  ),
  (
    "A debounce runs the newest effect",
    ["a debounce runs the newest effect", "a debounce cancels the earlier effect"], []
  ),
  (
    "A debounce's pause or a throttle's interval of zero", [],
    [
      "random compositions of effects behave like the model",
      "a pause or an interval of zero or less ends immediately",
    ]
  ),
  (
    "``Effect/cancel(id:)`` with the identifier of a throttle or debounce",
    ["a cancellation drops the held effect", "a cancellation ends running effects"], []
  ),
  (
    "A throttle or debounce belongs to the child", ["effects end with their child"],
    ["the effects of a child end when the child is removed, whatever form the child has"]
  ),
  (
    "Before each action of a feature",
    ["an action begins with the newest shared value"],
    ["a feature that has not joined a shared value changes its current value"]
  ),
  (
    "A reducer's change of a shared field",
    [
      "a change of a shared field is shared before the next action",
      "an equal value of a shared field is not shared",
    ], ["the last assigned value is shared, even if it equals the first one"]
  ),
  (
    "A feature that has joined receives each change",
    [
      "a joined feature gets changes in order", "of several changes only the newest is delivered",
    ], []
  ),
  (
    "The action of an older change",
    ["an outdated change finds the newer value"], []
  ),
  // The fuzzer runs another thread in the middle of an action and waits for the thread. Threads
  // that are not waited for have no order that a model could know. The test checks properties that
  // hold in any order, and runs under the thread sanitizer.
  (
    "If features on different lanes assign the value",
    [
      "the last of several concurrent assignments is kept",
      "a change of a shared value starts from the previous result",
      "a later change by another thread is not undone",
      "in the end all joined features have the same value",
    ],
    [
      "two stores on different lanes end with the same value, and no change is lost",
      "concurrent assignments to different fields are merged",
      "a direct assignment to shared state is shared together with a change in the same action",
    ]
  ),
  (
    "Within a program, all shared values", [],
    ["two shared values with the same file are one value"]
  ),
  (
    "A joined feature listens for changes",
    ["a removed child receives no further changes of a shared value"], []
  ),
  (
    "The ``SentEffects`` returned by",
    ["a handle cancels effects", "a handle reports whether its effects run"], []
  ),
  (
    "``ReducerStep/onChange(of:_:)`` with two parameters",
    [
      "assigning an equal value to shared state is not a change",
      "a change is reported with the old and the new value",
    ], ["onChange reacts only to changes of its field by the current action"]
  ),
  (
    "A test store delivers actions",
    ["a test store delivers actions in the order of a store"], []
  ),
  (
    "`finish()` checks",
    ["finish checks the store", "a finished store still checks"], []
  ),
  (
    "In a non-exhaustive test, `receive`", [],
    [
      "receiving with a timeout skips actions that do not match",
      "a non-exhaustive receive skips the actions before the expected action",
    ]
  ),
  (
    "A `push` of ``StackActionOf``", [],
    [
      "a parent reduces a push after the stack has changed, but a pop before it changes",
      "pushing a used number or popping an absent screen changes nothing",
    ]
  ),
  (
    "If a lane does not become idle", [],
    [
      "an effect that spins is a failure that names the effect",
      "an effect that spins even after its cancellation cannot hang the test",
    ]
  ),
  (
    "A test store compares the state",
    ["an assertion compares the state after the action", "a wrong assertion fails"], []
  ),
]

extension Fuzzer {
  /// The rules that each run of the fuzzer must reach.
  static let rules = Set(page.flatMap(\.fuzzed)).union(["a timer ticks"])
    .subtracting(StrictProgram.rules).sorted()
}

struct RulesTests {
  private let tests = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent()

  @Test func `each rule of the article is fuzzed or has a named test`() throws {
    let article = tests.appending(
      path: "../../Sources/Libraries/Composable/Composable.docc/WhatHappensWhen.md")
    let text = try String(contentsOf: article, encoding: .utf8)
    // The comparison with TCA at the end contains no further rules.
    let rules = text.components(separatedBy: "## Compared with").first ?? ""
    let bullets = rules.split(separator: "\n").filter { $0.hasPrefix("- ") }
      .map { String($0.dropFirst(2)) }
    for bullet in bullets {
      #expect(page.count { bullet.hasPrefix($0.rule) } == 1, "\(bullet)")
    }
    #expect(page.count == bullets.count)
    #expect(page.allSatisfy { !$0.fuzzed.isEmpty || !$0.tests.isEmpty })
  }

  @Test func `the tests that the rules name exist`() throws {
    let files = FileManager.default.enumerator(at: tests, includingPropertiesForKeys: nil)
    let sources = (files?.allObjects as? [URL] ?? []).filter { $0.pathExtension == "swift" }
    let code = try sources.map { try String(contentsOf: $0, encoding: .utf8) }.joined()
    for name in page.flatMap(\.tests) { #expect(code.contains("func `\(name)`"), "\(name)") }
  }
}

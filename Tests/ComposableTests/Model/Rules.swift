import Foundation
import Testing

/// The rules of the article "What happens when": by the beginning of each, the rules of the fuzzer that
/// apply it, and where these are not enough, tests.
private let page: [(rule: String, fuzzed: [String], tests: [String])] = [
  (
    "A send reduces its action at once",
    ["feedback comes at once", "what an action leads to comes before the next one of its effect"],
    []
  ),
  (
    "A send from within a reducer or an observer",
    ["what is sent while an action is reduced comes behind what follows from it"], []
  ),
  ("`send` in an effect posts", ["the actions of an effect come in their order"], []),
  (
    "A child runs before its parent", ["a child goes with the action that starts its effect"],
    ["a child runs before its parent, and its siblings do not run"]
  ),
  (
    "An action for a child that is not there",
    ["an action without child is counted", "a dismissal of an absent child is counted"], []
  ),
  (
    "More than 10,000 actions that follow from one",
    ["actions that follow from each other without end are stopped"], []
  ),
  (
    "An effect starts after the reducer has returned",
    ["an effect that its own action cancels does not run"], []
  ),
  (
    "An effect runs on the store's lane, before and after each suspension", [],
    [
      "an effect runs on the lane under its name and priority",
      "an effect can run on the pool; its actions return to the lane",
    ]
  ),
  (
    "What a cancelled effect still sends",
    [
      "what a cancelled effect sends is dropped in silence",
      "an action of an effect that has ended is reported",
    ], []
  ),
  (
    "An identifier belongs to the child",
    ["an identifier is the child's own", "a parent cancels in a child"], []
  ),
  ("An error that an effect does not catch", ["an error that is not caught is reported"], []),
  (
    "An identifier that is put around the effect of a child", [],
    [
      "an identifier around a composed child reaches its children",
      "compositions of effects do what the model does",
    ]
  ),
  (
    "The parts of a sequence", [],
    [
      "compositions of effects do what the model does", "a sequence waits for a debounced part",
      "a sequence waits for the effects of children", "each part keeps its identifiers",
      "a part may cancel what was in flight before it", "a cancellation may be a part",
    ]
  ),
  (
    "A part that does not run to its end", [],
    [
      "compositions of effects do what the model does",
      "what runs beside a cancelled part runs on, and the next part does not begin",
      "a task that throws a cancellation by itself ends its sequence without a failure",
    ]
  ),
  ("The effects of a child end with the action", ["effects end with their child"], []),
  (
    "They end as well when the child becomes another one",
    [
      "effects end when another child comes", "a row comes back in one action",
      "another case or payload of an enum is another child",
      "a new child's effect ends those of the one before",
    ], []
  ),
  (
    "A state without an `id`",
    [
      "a child without an id stays the same when it is replaced",
      "elements of another collection are the same",
    ], []
  ),
  (
    "If something else than its parent takes the child away",
    ["a late result does not reach another child"], []
  ),
  (
    "``Effect/dismiss`` makes the field `nil`",
    [
      "a child put there at a dismissal stays", "a dismissal that no parent presents is reported",
    ], []
  ),
  (
    "A screen of a ``StackState`` that returns", [],
    [
      "a screen that dismisses itself is popped with those above",
      "a screen within a sheet is popped and the sheet stays",
      "a dismissal that comes too late is reported",
    ]
  ),
  (
    "An alert that the parent shows anew", [],
    ["an alert that is shown anew stays, even if it is equal, and is told"]
  ),
  (
    "A ``StackState`` gives no number twice", [],
    ["what is meant for a screen that was popped reaches no other"]
  ),
  (
    "A throttle lets the first effect through",
    ["a throttle lets the first through", "a throttle lets the newest through"], []
  ),
  (
    "A debounce lets the newest effect through",
    ["a debounce lets the newest through", "a debounce ends what it let through"], []
  ),
  (
    "A pause or an interval of zero", [],
    [
      "compositions of effects do what the model does",
      "a pause or an interval of no length is over at once",
    ]
  ),
  (
    "``Effect/cancel(id:)`` with the identifier of a limit",
    ["a cancellation drops what is held back", "a cancellation ends what runs"], []
  ),
  (
    "A limit belongs to the child", ["effects end with their child"],
    ["the effects of a child end with it, whatever form it has"]
  ),
  (
    "Before each action of a feature",
    ["an action begins with the newest shared value"],
    ["a feature that has not joined changes the newest value"]
  ),
  (
    "What a reducer changes in a shared field",
    [
      "a change of a shared field is shared before the next action",
      "a shared field that is left equal is not shared",
    ], ["the last value of a reducer is shared, even if it is the first one"]
  ),
  (
    "A feature that has joined gets each change",
    [
      "who has joined gets changes in their order", "of several changes the newest is got",
    ], []
  ),
  (
    "A change that was overtaken by a newer one",
    ["a change that was overtaken finds the newer one"], []
  ),
  // The fuzzer lets another thread run in the middle of an action and waits for it. Threads that nobody
  // waits for have no order that a model could know: the test says what holds in any, and the thread
  // sanitizer looks on.
  (
    "Of assignments at the same time",
    [
      "of assignments by several threads the last one stays",
      "a change of a shared value sees what the one before it left",
      "what another thread changes behind a change is not undone",
      "in the end all who joined have the same value",
    ],
    [
      "two stores on lanes of their own end with the same value, and no change is lost",
      "assignments to different fields at the same time are merged",
      "an assignment before a change is shared with it",
    ]
  ),
  ("Values of one file", [], ["two values of one file are one value"]),
  ("Listening is an effect of the feature", ["listening ends with the child"], []),
  (
    "``SentEffects`` of ``Store/start(_:)``",
    ["a handle cancels", "a handle says whether its effects run"], []
  ),
  (
    "``ReducerStep/onChange(of:_:)`` with two parameters",
    [
      "an assignment of an equal value is no change",
      "a change is told with the old value and the new one",
    ], ["onChange reacts only to changes of its field in this action"]
  ),
  (
    "The order in which a test store hands out actions",
    ["a test store hands out actions in the order of a store"], []
  ),
  (
    "`finish()` checks",
    ["a store checks at its end", "a store checks after it was finished"], []
  ),
  (
    "Without exhaustivity `receive` passes over", [],
    [
      "a receive with a timeout waits past actions that do not match",
      "actions in front of the one that is received are skipped",
    ]
  ),
  (
    "A `push` of ``StackActionOf``", [],
    [
      "a push is there when the parent sees it, a popped screen still is",
      "a number that was given and a screen that is not there change nothing",
    ]
  ),
  (
    "A lane that does not become idle", [],
    [
      "an effect that spins is a failure that names it",
      "what spins in spite of a cancellation is left aside",
    ]
  ),
  (
    "The state within an assertion",
    ["an assertion compares the state after the action", "an assertion that is wrong fails"], []
  ),
]

extension Fuzzer {
  /// What each run of the fuzzer must reach.
  static let rules = Set(page.flatMap(\.fuzzed)).union(["a timer ticks"])
    .subtracting(StrictProgram.rules).sorted()
}

struct RulesTests {
  private let tests = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent()

  @Test func `each rule of the page is fuzzed or tested`() throws {
    let article = tests.appending(
      path: "../../Sources/Kit/Composable/Composable.docc/WhatHappensWhen.md")
    let bullets = try String(contentsOf: article, encoding: .utf8).split(separator: "\n")
      .filter { $0.hasPrefix("- ") }.map { String($0.dropFirst(2)) }
    for bullet in bullets {
      #expect(page.count { bullet.hasPrefix($0.rule) } == 1, "\(bullet)")
    }
    #expect(page.count == bullets.count)
    #expect(page.allSatisfy { !$0.fuzzed.isEmpty || !$0.tests.isEmpty })
  }

  @Test func `the tests that are named exist`() throws {
    let files = FileManager.default.enumerator(at: tests, includingPropertiesForKeys: nil)
    let sources = (files?.allObjects as? [URL] ?? []).filter { $0.pathExtension == "swift" }
    let code = try sources.map { try String(contentsOf: $0, encoding: .utf8) }.joined()
    for name in page.flatMap(\.tests) { #expect(code.contains("func `\(name)`"), "\(name)") }
  }
}

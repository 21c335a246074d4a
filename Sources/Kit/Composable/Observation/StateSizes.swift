/// How many elements the collections of a state hold, by the paths of their fields, such as `chat.messages`.
///
/// Only counts are read. A look costs nanoseconds per field whose type the macro knows as a collection or a state. Other
/// types are searched by reflection, for microseconds, and the less often the more looks there were: what such a search
/// found stays until the next one.
public struct StateSizes: Sendable {
  /// The paths of the collections, in the order in which they were first seen.
  public private(set) var paths: [String] = []
  /// Their sizes at the last look, in the order of ``paths``. A collection that is not there has no elements; the elements
  /// of collections within the elements of a collection are summed up.
  public private(set) var counts: [Int] = []
  /// Where their elements were at the last look, in the order of ``paths``.
  public private(set) var storages: [Storage] = []

  /// Where the elements of a collection are. It stays the same while the collection is changed in place.
  @frozen public struct Storage: Sendable {
    /// The address of the first element; 0 if it is not known, as of sets, dictionaries and what is within elements.
    public let address: UInt
    /// Bytes from one element to the next.
    public let stride: Int

    /// That of `elements`. O(1) for arrays.
    @inlinable
    public init<Elements: Collection>(_ elements: Elements) {
      address =
        elements.withContiguousStorageIfAvailable { UInt(bitPattern: $0.baseAddress) } ?? 0
      stride = MemoryLayout<Elements.Element>.stride
    }

    /// An unknown one.
    @inlinable public init() { (address, stride) = (0, 0) }
  }

  /// Fields, cases and elements seen so far. The first one is the state itself.
  private var nodes = [Node(path: "")]
  /// The numbers of ``paths``.
  private var numbers: [String: Int] = [:]
  private let isThorough: Bool
  private var current = 0
  /// How many looks there were.
  private var looks = 0
  /// The look that searches by reflection next.
  private var nextReflection = 0
  /// Whether this look does.
  private var isReflecting = true
  /// By the numbers of ``paths``, whether a collection was found by reflection.
  private var isReflected: [Bool] = []
  /// How many elements each element that is looked at stands for.
  private var weight = 1

  private struct Node {
    let path: String
    /// The nodes of the fields within, by their indices; 0 for those not seen yet.
    var children: [Int] = []
    /// Its place in ``counts``; `nil` if it is not a collection.
    var collection: Int?
    /// Whether no collection was found inside.
    var isBarren = false
    /// The look from which on a barren one is searched again.
    var nextSearch = 0
  }

  /// Of a collection of states at most this many elements are looked into.
  private static let elements = 32
  /// How far reflection goes down.
  private static let depth = 4

  /// No sizes.
  ///
  /// - Parameter isThorough: whether each look searches all values of which nothing is known, so that what it finds does
  ///   not depend on earlier looks.
  public init(isThorough: Bool = false) { self.isThorough = isThorough }

  /// The size of the collection at a path at the last look; `nil` if there was never one.
  public subscript(path: String) -> Int? { numbers[path].map { counts[$0] } }

  /// Reads the sizes of the collections in `state`.
  ///
  /// - Complexity: O(fields).
  public mutating func look<State: ObservableBranch>(at state: State) {
    isReflecting = isThorough || looks >= nextReflection
    // Each tenth of the looks so far, since reflection costs more than all else.
    if isReflecting { nextReflection = looks + 1 + looks / 10 }
    looks += 1
    for index in counts.indices where isReflecting || !isReflected[index] {
      counts[index] = 0
      storages[index] = Storage()
    }
    state._$collectSizes(into: &self)
  }

  // MARK: What generated code adds

  private mutating func node(_ index: Int, _ name: String, below parent: Int) -> Int {
    if index < nodes[parent].children.count, nodes[parent].children[index] != 0 {
      return nodes[parent].children[index]
    }
    let path = nodes[parent].path
    nodes.append(Node(path: path.isEmpty || name == "[]" ? path + name : "\(path).\(name)"))
    let missing = index + 1 - nodes[parent].children.count
    if missing > 0 { nodes[parent].children += Array(repeating: 0, count: missing) }
    nodes[parent].children[index] = nodes.count - 1
    return nodes.count - 1
  }

  private mutating func add(
    _ count: Int, _ storage: Storage, at node: Int, reflected: Bool = false
  ) {
    if let collection = nodes[node].collection {
      counts[collection] += count * weight
      if weight == 1 { storages[collection] = storage }
    } else {
      nodes[node].collection = counts.count
      numbers[nodes[node].path] = counts.count
      paths.append(nodes[node].path)
      counts.append(count * weight)
      storages.append(weight == 1 ? storage : Storage())
      isReflected.append(reflected)
    }
  }

  /// Adds a collection of this many elements.
  @usableFromInline
  mutating func add(_ index: Int, _ name: String, count: Int, _ storage: Storage = Storage()) {
    add(count, storage, at: node(index, name, below: current))
  }

  /// Adds what is within a field that has a state of its own.
  @usableFromInline
  mutating func add<Value: ObservableBranch>(_ index: Int, _ name: String, within value: Value) {
    let parent = current
    current = node(index, name, below: parent)
    value._$collectSizes(into: &self)
    current = parent
  }

  /// Adds what is within the elements of the current collection.
  mutating func add<Elements: Collection>(elements: Elements)
  where Elements.Element: ObservableBranch {
    let (parent, outer) = (current, weight)
    current = node(0, "[]", below: parent)
    let stride = Swift.max(1, (elements.count + Self.elements - 1) / Self.elements)
    weight *= stride
    var place = elements.startIndex
    while place != elements.endIndex {
      elements[place]._$collectSizes(into: &self)
      guard elements.formIndex(&place, offsetBy: stride, limitedBy: elements.endIndex) else {
        break
      }
    }
    (current, weight) = (parent, outer)
  }

  // MARK: Reflection

  /// Adds the collections inside a value of which nothing is known.
  @usableFromInline
  mutating func add(_ index: Int, _ name: String, reflecting value: @autoclosure () -> Any) {
    guard isReflecting else { return }
    let node = node(index, name, below: current)
    if wantsLook(node) { reflect(value(), node, depth: 0) }
  }

  /// An optional value may come later, so that what held no collection is looked at again, each time after twice as many
  /// looks.
  private mutating func wantsLook(_ node: Int) -> Bool {
    guard isThorough || !nodes[node].isBarren || looks >= nodes[node].nextSearch else {
      return false
    }
    nodes[node].nextSearch = 2 * looks
    return true
  }

  /// Returns whether there was a collection.
  @discardableResult
  private mutating func reflect(_ value: Any, _ node: Int, depth: Int) -> Bool {
    if value is String {
      nodes[node].isBarren = true
      return false
    }
    if let collection = value as? any Collection {
      func storage(_ elements: some Collection) -> Storage { Storage(elements) }
      add(collection.count, storage(collection), at: node, reflected: true)
      return true
    }
    let mirror = Mirror(reflecting: value)
    // Objects may refer to each other, and belong to no single state.
    guard depth < Self.depth, mirror.displayStyle != .class else {
      nodes[node].isBarren = true
      return false
    }
    var isFertile = false
    let isOptional = mirror.displayStyle == .optional
    for (index, child) in mirror.children.enumerated() {
      let below =
        isOptional ? node : self.node(index, child.label ?? "\(index)", below: node)
      guard isOptional || wantsLook(below) else { continue }
      if reflect(child.value, below, depth: depth + 1) { isFertile = true }
    }
    nodes[node].isBarren = !isFertile
    return isFertile
  }
}

// What generated code calls for each field; the overloads are picked by the field's static type.
extension Observation {
  /// A type of which nothing is known.
  @inlinable
  public static func collectSizes<Value>(
    _ value: Value, _ index: Int, _ name: String, into sizes: inout StateSizes
  ) {
    sizes.add(index, name, reflecting: value)
  }

  /// Bytes, which are counted at once.
  @inlinable
  public static func collectSizes(
    _ value: String, _ index: Int, _ name: String, into sizes: inout StateSizes
  ) {
    sizes.add(index, name, count: value.utf8.count)
  }

  /// Bytes, which are counted at once.
  @inlinable
  public static func collectSizes(
    _ value: String?, _ index: Int, _ name: String, into sizes: inout StateSizes
  ) {
    sizes.add(index, name, count: value?.utf8.count ?? 0)
  }

  /// A collection.
  @inlinable
  public static func collectSizes<Value: Collection>(
    _ value: Value, _ index: Int, _ name: String, into sizes: inout StateSizes
  ) {
    sizes.add(index, name, count: value.count, StateSizes.Storage(value))
  }

  /// A collection that may be missing.
  @inlinable
  public static func collectSizes<Value: Collection>(
    _ value: Value?, _ index: Int, _ name: String, into sizes: inout StateSizes
  ) {
    sizes.add(
      index, name, count: value?.count ?? 0, value.map { StateSizes.Storage($0) } ?? .init())
  }

  /// A child.
  @inlinable
  public static func collectSizes<Value: ObservableBranch>(
    _ value: Value, _ index: Int, _ name: String, into sizes: inout StateSizes
  ) {
    sizes.add(index, name, within: value)
  }

  /// A collection of children.
  @inlinable
  public static func collectSizes<Value: Collection & ObservableBranch>(
    _ value: Value, _ index: Int, _ name: String, into sizes: inout StateSizes
  ) {
    sizes.add(index, name, count: value.count)
    sizes.add(index, name, within: value)
  }

  /// A collection of children that may be missing.
  @inlinable
  public static func collectSizes<Value: Collection & ObservableBranch>(
    _ value: Value?, _ index: Int, _ name: String, into sizes: inout StateSizes
  ) {
    sizes.add(index, name, count: value?.count ?? 0)
    if let value { sizes.add(index, name, within: value) }
  }
}

extension KeyedCollection where Element: ObservableBranch {
  /// Adds what is within the elements.
  public func _$collectSizes(into sizes: inout StateSizes) { sizes.add(elements: self) }
}

extension Store {
  /// Reads the sizes of the collections in the state.
  ///
  /// - Complexity: O(fields).
  public func look(_ sizes: inout StateSizes) { sizes.look(at: _state) }
}

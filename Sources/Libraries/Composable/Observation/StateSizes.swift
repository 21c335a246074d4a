/// The number of elements in each collection of a state, by the path of its field, such as
/// `chat.messages`.
///
/// Only counts are read. For a field whose static type is a collection or a state, a reading takes
/// nanoseconds. Fields of other types are searched by reflection, which takes microseconds and is
/// done less often as the number of readings grows. The sizes found by reflection are kept until
/// the next search.
public struct StateSizes: Sendable {
  /// The paths of the collections, in the order in which they were first found.
  public private(set) var paths: [String] = []
  /// The sizes at the last reading, in the order of ``paths``. A missing collection has the size 0.
  /// For collections within the elements of a collection, the sum of their sizes.
  public private(set) var counts: [Int] = []
  /// The storages of the elements at the last reading, in the order of ``paths``.
  public private(set) var storages: [Storage] = []

  /// The location of a collection's elements. It stays the same while the collection is changed in
  /// place.
  @frozen public struct Storage: Sendable {
    /// The address of the first element. It is 0 if it is unknown, as for sets, dictionaries and
    /// collections within elements.
    public let address: UInt
    /// The number of bytes from one element to the next.
    public let stride: Int

    /// Reads the storage of `elements`. O(1) for arrays.
    @inlinable
    public init<Elements: Collection>(_ elements: Elements) {
      address =
        elements.withContiguousStorageIfAvailable { UInt(bitPattern: $0.baseAddress) } ?? 0
      stride = MemoryLayout<Elements.Element>.stride
    }

    /// Makes an unknown storage.
    @inlinable public init() { (address, stride) = (0, 0) }
  }

  /// The fields, cases and elements found so far. The first node is the state itself.
  private var nodes = [Node(path: "")]
  /// The index of each path in ``paths``.
  private var numbers: [String: Int] = [:]
  private let isThorough: Bool
  @usableFromInline var current = 0
  /// The number of readings so far.
  private var looks = 0
  /// The number of the next reading that searches by reflection.
  private var nextReflection = 0
  /// Whether the current reading searches by reflection.
  @usableFromInline private(set) var isReflecting = true
  /// For each of ``paths``, whether the collection was found by reflection.
  private var isReflected: [Bool] = []
  /// The number of elements that each visited element represents.
  private var weight = 1

  private struct Node {
    let path: String
    /// The nodes of the fields inside, by field index; 0 for fields not found yet.
    var children: [Int] = []
    /// The index in ``counts``, or `nil` if the node is not a collection.
    var collection: Int?
    /// Whether no collection was found inside.
    var isBarren = false
    /// The number of the reading at which a node without collections is searched again.
    var nextSearch = 0
  }

  /// The maximum number of elements visited in a collection of states.
  private static let elements = 32
  /// The maximum depth of reflection.
  private static let depth = 4

  /// Makes an empty set of sizes.
  ///
  /// - Parameter isThorough: Whether each reading searches all values of unknown types, so that the
  ///   result does not depend on earlier readings.
  public init(isThorough: Bool = false) { self.isThorough = isThorough }

  /// The size of the collection at a path at the last reading, or `nil` if it was never found.
  public subscript(path: String) -> Int? { numbers[path].map { counts[$0] } }

  /// Reads the sizes of the collections in `state`.
  ///
  /// - Complexity: O(n) in the number of fields.
  public mutating func look<State: ObservableBranch>(at state: State) {
    isReflecting = isThorough || looks >= nextReflection
    // Reflection costs more than everything else, so the interval to the next search is a tenth of
    // the number of readings so far.
    if isReflecting { nextReflection = looks + 1 + looks / 10 }
    looks += 1
    for index in counts.indices where isReflecting || !isReflected[index] {
      counts[index] = 0
      storages[index] = Storage()
    }
    state._$collectSizes(into: &self)
  }

  // MARK: Called by generated code

  /// Returns the node of a field. Reads its name only if the field is new.
  @usableFromInline
  mutating func node(_ index: Int, _ name: @autoclosure () -> String, below parent: Int) -> Int {
    if index < nodes[parent].children.count, nodes[parent].children[index] != 0 {
      return nodes[parent].children[index]
    }
    let (path, name) = (nodes[parent].path, name())
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

  /// Adds a collection with this number of elements.
  @usableFromInline
  mutating func add(_ index: Int, _ name: String, count: Int, _ storage: Storage = Storage()) {
    add(count, storage, at: node(index, name, below: current))
  }

  /// Adds the collections inside a field that is a state. Inlined, because a call with a generic
  /// type copies the value.
  @inlinable
  mutating func add<Value: ObservableBranch>(_ index: Int, _ name: String, within value: Value) {
    let parent = current
    current = node(index, name, below: parent)
    value._$collectSizes(into: &self)
    current = parent
  }

  /// Adds the collections inside the elements of the current collection.
  mutating func add<Elements: Collection>(elements: Elements)
  where Elements.Element: ObservableBranch {
    let (parent, outer) = (current, weight)
    current = node(0, "[]", below: parent)
    let stride = Swift.max(1, (elements.count + Self.elements - 1) / Self.elements)
    weight *= stride
    var index = elements.startIndex
    while index != elements.endIndex {
      elements[index]._$collectSizes(into: &self)
      guard elements.formIndex(&index, offsetBy: stride, limitedBy: elements.endIndex) else {
        break
      }
    }
    (current, weight) = (parent, outer)
  }

  // MARK: Reflection

  /// Adds the collections inside a value of an unknown type.
  @usableFromInline
  mutating func add(_ index: Int, _ name: String, reflecting value: @autoclosure () -> Any) {
    let node = node(index, name, below: current)
    if wantsLook(node) { reflect(value(), node, depth: 0) }
  }

  /// Returns whether a value should be searched. An optional value may appear later, so a value
  /// without collections is searched again, each time after twice as many readings.
  private mutating func wantsLook(_ node: Int) -> Bool {
    guard isThorough || !nodes[node].isBarren || looks >= nodes[node].nextSearch else {
      return false
    }
    nodes[node].nextSearch = 2 * looks
    return true
  }

  /// Searches a value by reflection. Returns whether it contains a collection.
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
    // Skips objects, because they may reference each other and do not belong to a single state.
    guard depth < Self.depth, mirror.displayStyle != .class else {
      nodes[node].isBarren = true
      return false
    }
    var isFertile = false
    let isOptional = mirror.displayStyle == .optional
    let children = mirror.children
    var position = children.startIndex
    for index in 0..<children.count {
      defer { children.formIndex(after: &position) }
      // Reading a child from its mirror costs more than everything else here, so only the children
      // that are searched are read.
      let below =
        isOptional ? node : self.node(index, children[position].label ?? "\(index)", below: node)
      guard isOptional || wantsLook(below) else { continue }
      if reflect(children[position].value, below, depth: depth + 1) { isFertile = true }
    }
    nodes[node].isBarren = !isFertile
    return isFertile
  }
}

// Called by generated code for each field. The field's static type selects the overload.
extension Observation {
  /// Adds the collections inside a value of an unknown type.
  @inlinable
  public static func collectSizes<Value>(
    _ value: Value, _ index: Int, _ name: String, into sizes: inout StateSizes
  ) {
    if sizes.isReflecting { sizes.add(index, name, reflecting: value) }
  }

  /// Adds the number of UTF-8 bytes of a string, which is O(1).
  @inlinable
  public static func collectSizes(
    _ value: String, _ index: Int, _ name: String, into sizes: inout StateSizes
  ) {
    sizes.add(index, name, count: value.utf8.count)
  }

  /// Adds the number of UTF-8 bytes of an optional string, which is O(1).
  @inlinable
  public static func collectSizes(
    _ value: String?, _ index: Int, _ name: String, into sizes: inout StateSizes
  ) {
    sizes.add(index, name, count: value?.utf8.count ?? 0)
  }

  /// Adds a collection.
  @inlinable
  public static func collectSizes<Value: Collection>(
    _ value: Value, _ index: Int, _ name: String, into sizes: inout StateSizes
  ) {
    sizes.add(index, name, count: value.count, StateSizes.Storage(value))
  }

  /// Adds an optional collection.
  @inlinable
  public static func collectSizes<Value: Collection>(
    _ value: Value?, _ index: Int, _ name: String, into sizes: inout StateSizes
  ) {
    sizes.add(
      index, name, count: value?.count ?? 0, value.map { StateSizes.Storage($0) } ?? .init())
  }

  /// Adds the collections inside a child.
  @inlinable
  public static func collectSizes<Value: ObservableBranch>(
    _ value: Value, _ index: Int, _ name: String, into sizes: inout StateSizes
  ) {
    sizes.add(index, name, within: value)
  }

  /// Adds a collection of children and the collections inside it.
  @inlinable
  public static func collectSizes<Value: Collection & ObservableBranch>(
    _ value: Value, _ index: Int, _ name: String, into sizes: inout StateSizes
  ) {
    sizes.add(index, name, count: value.count)
    sizes.add(index, name, within: value)
  }

  /// Adds an optional collection of children and the collections inside it.
  @inlinable
  public static func collectSizes<Value: Collection & ObservableBranch>(
    _ value: Value?, _ index: Int, _ name: String, into sizes: inout StateSizes
  ) {
    sizes.add(index, name, count: value?.count ?? 0)
    if let value { sizes.add(index, name, within: value) }
  }
}

extension KeyedCollection where Element: ObservableBranch {
  /// Adds the collections inside the elements.
  public func _$collectSizes(into sizes: inout StateSizes) { sizes.add(elements: self) }
}

extension Store {
  /// Reads the sizes of the collections in the state.
  ///
  /// - Complexity: O(n) in the number of fields.
  public func look(_ sizes: inout StateSizes) {
    // Passing the property itself would copy the whole state.
    func look(at state: inout State) { sizes.look(at: state) }
    look(at: &_state)
  }
}

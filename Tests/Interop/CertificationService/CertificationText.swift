/// The interface of the certification suites, with their names and types. The suites compare only
/// the meaning of the definition, not its text.
let certificationText = """
  # Certifies an implementation of Varlink: each method takes the result of the previous method.
  interface org.varlink.certification

  type Interface (foo: ?[]?[string](foo, bar, baz), anon: (foo: bool, bar: bool))

  type MyType (
    object: object,
    enum: (one, two, three),
    struct: (first: int, second: string),
    array: []string,
    dictionary: [string]string,
    stringset: [string](),
    nullable: ?string,
    nullable_array_struct: ?[](first: int, second: string),
    interface: Interface
  )

  method Start() -> (client_id: string)
  method Test01(client_id: string) -> (bool: bool)
  method Test02(client_id: string, bool: bool) -> (int: int)
  method Test03(client_id: string, int: int) -> (float: float)
  method Test04(client_id: string, float: float) -> (string: string)
  method Test05(client_id: string, string: string) -> (
    bool: bool, int: int, float: float, string: string
  )
  method Test06(client_id: string, bool: bool, int: int, float: float, string: string) -> (
    struct: (bool: bool, int: int, float: float, string: string)
  )
  method Test07(
    client_id: string, struct: (bool: bool, int: int, float: float, string: string)
  ) -> (map: [string]string)
  method Test08(client_id: string, map: [string]string) -> (set: [string]())
  method Test09(client_id: string, set: [string]()) -> (mytype: MyType)

  # To be called with the flag more.
  method Test10(client_id: string, mytype: MyType) -> (string: string)

  # To be called with the flag oneway.
  method Test11(client_id: string, last_more_replies: []string) -> ()
  method End(client_id: string) -> (all_ok: bool)

  error ClientIdError ()
  error CertificationError (wants: object, got: object)

  """

// The other files import ArgumentParser under the same condition: a missing module would end the compiler before it
// gets here.
#if !canImport(ArgumentParser)
  #error(
    """
    The product HangCommand needs the trait of the same name: \
    .package(url: "…/livehost", from: "…", traits: ["HangCommand"])
    """)
#endif

// The other files import ArgumentParser only if it exists, so that the compiler reports this error
// and not the missing module.
#if !canImport(ArgumentParser)
  #error(
    """
    The product HangCommand needs the trait of the same name: \
    .package(url: "…/livehost", from: "…", traits: ["HangCommand"])
    """)
#endif

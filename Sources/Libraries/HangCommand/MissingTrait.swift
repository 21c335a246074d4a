// The other files import ArgumentParser under the same condition. Otherwise, the compiler would
// stop at the missing module before it reports this error.
#if !canImport(ArgumentParser)
  #error(
    """
    The product HangCommand needs the trait of the same name: \
    .package(url: "…/livehost", from: "…", traits: ["HangCommand"])
    """)
#endif

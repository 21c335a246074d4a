/// The version of livehost, which must match the package's version in `packaging/debian/changelog`.
package let livehostVersion = "0.2.0"

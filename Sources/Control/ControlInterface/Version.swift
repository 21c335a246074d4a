/// The version of livehost. It must match the version of the package in
/// `packaging/debian/changelog`.
package let livehostVersion = "0.2.0"

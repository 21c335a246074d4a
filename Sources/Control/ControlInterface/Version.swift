/// The version of livehost. The package's (`packaging/debian/changelog`) must be the same.
package let livehostVersion = "0.2.0"

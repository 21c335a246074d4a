import JSON
import VarlinkDescription

extension Interface {
  /// The definition of `org.varlink.service`, copied from UAPI.20.
  static let serviceText = """
    # The Varlink Service Interface should be provided by every varlink service.
    # It describes the service and the interfaces it implements.
    interface org.varlink.service

    # Get a list of all the interfaces a service provides and information
    # about the implementation.
    method GetInfo() -> (
      vendor: string,
      product: string,
      version: string,
      url: string,
      interfaces: []string
    )

    # Get the description of an interface that is implemented by this service.
    method GetInterfaceDescription(interface: string) -> (description: string)

    # The requested interface was not found.
    error InterfaceNotFound (interface: string)

    # The requested method was not found
    error MethodNotFound (method: string)

    # The interface defines the requested method, but the service does not
    # implement it.
    error MethodNotImplemented (method: string)

    # One of the passed parameters is invalid.
    error InvalidParameter (parameter: string)

    # Client is denied access
    error PermissionDenied ()

    # Method is expected to be called with 'more' set to true, but wasn't
    error ExpectedMore ()

    # Method is expected to be called with 'upgrade' set to true, but wasn't
    error ExpectedUpgrade ()

    """

  /// Returns the interface `org.varlink.service` of a server with the given other interfaces.
  static func service(
    _ information: ServiceInformation, describing others: [Interface]
  ) throws -> Interface {
    var service = try Interface(parsing: serviceText)
    let descriptions = [service.description] + others.map(\.description)
    let information = GetInfoReply(
      vendor: information.vendor, product: information.product, version: information.version,
      url: information.url, interfaces: descriptions.map(\.name))
    try service.handle("GetInfo") { (_, _: NoParameters) in information }
    try service.handle("GetInterfaceDescription") { (_, parameters: DescriptionParameters) in
      let name = JSONName(parameters.interface)
      guard let found = descriptions.first(where: { JSONName($0.name) == name }) else {
        throw ServiceError.interfaceNotFound(parameters.interface)
      }
      return DescriptionReply(description: found.text)
    }
    return service
  }
}

/// The information that a service returns from `org.varlink.service.GetInfo`.
package struct ServiceInformation: Sendable, Equatable {
  package var vendor: String
  package var product: String
  package var version: String
  package var url: String

  package init(vendor: String, product: String, version: String, url: String) {
    self.vendor = vendor
    self.product = product
    self.version = version
    self.url = url
  }
}

/// The reply of `org.varlink.service.GetInfo`.
package struct GetInfoReply: Codable, Sendable, Equatable {
  package let vendor: String
  package let product: String
  package let version: String
  package let url: String
  /// The names of all interfaces, including `org.varlink.service`.
  package let interfaces: [String]
}

struct DescriptionParameters: Codable { let interface: String }
struct DescriptionReply: Codable { let description: String }

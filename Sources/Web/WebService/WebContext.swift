package import Hummingbird
import NIOCore

/// The context of a request, which stores what its token grants.
package struct WebContext: RequestContext {
  package var coreContext: CoreRequestContextStorage
  let channel: any Channel
  var access: GrantedAccess?

  package init(source: ApplicationRequestContextSource) {
    coreContext = CoreRequestContextStorage(source: source)
    channel = source.channel
  }
}

extension PageFiles {
  /// The files of the folder Page.
  static let embedded: [String: [UInt8]] = [
    "app.js": PackageResources.app_js, "index.html": PackageResources.index_html,
    "nodes.js": PackageResources.nodes_js, "overlay.html": PackageResources.overlay_html,
    "overlay.js": PackageResources.overlay_js, "stream.js": PackageResources.stream_js,
    "style.css": PackageResources.style_css,
  ]
}

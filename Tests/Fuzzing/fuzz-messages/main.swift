import FuzzSupport

try fuzz(["varlink": { try VarlinkParser() }, "interface": { InterfaceParser() }])

import GatewayTool
import Glibc

exit(await GatewayProgram.main())

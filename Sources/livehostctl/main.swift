import CommandLineTool
import Glibc

exit(await Program.main())

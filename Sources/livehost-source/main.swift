import Glibc
import SourceTool

exit(await SourceProgram.main())

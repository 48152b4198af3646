// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import HandoffCommand

exit(HandoffCommand.run(CommandLine.arguments))

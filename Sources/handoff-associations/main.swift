// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import HandoffAssociations

exit(AssociationsProgram.run(CommandLine.arguments))

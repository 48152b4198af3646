// SPDX-License-Identifier: LGPL-2.1-or-later
import FuzzSupport

Fuzzer.run(SocketTest.run)

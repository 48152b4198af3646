// SPDX-License-Identifier: LGPL-2.1-or-later
import CAdwaita
import HandoffClient
import Platform

Translation.begin()
exit(0)

// SPDX-License-Identifier: LGPL-2.1-or-later
import CAdwaita
import Platform

Translation.begin()
exit(SettingsApplication().run())

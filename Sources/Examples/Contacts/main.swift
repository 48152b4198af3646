// SPDX-License-Identifier: LGPL-2.1-or-later
import CAdwaita
import ContactsModel
import Platform

Translation.begin()
let application = ContactsApplication(.ofUser())
exit(application.run())

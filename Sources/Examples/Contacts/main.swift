// SPDX-License-Identifier: LGPL-2.1-or-later
import CAdwaita
import ContactsModel

setlocale(LC_ALL, "")
let application = ContactsApplication(.ofUser())
exit(application.run())

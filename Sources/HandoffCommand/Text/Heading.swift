// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Platform

/// The headings of the columns of tables.
enum Heading {
    static let activities = tr("ACTIVITIES")
    static let addresses = tr("ADDRESSES")
    static let application = tr("APPLICATION")
    static let clipboards = tr("CLIPBOARDS")
    static let continuesIn = tr("CONTINUES IN")
    static let device = tr("DEVICE")
    static let documents = tr("DOCUMENTS")
    static let id = tr("ID")
    static let last = tr("LAST")
    static let link = tr("LINK")
    static let name = tr("NAME")
    static let sent = tr("SENT")
    static let since = tr("SINCE")
    static let state = tr("STATE")
    static let streams = tr("STREAMS")
    static let title = tr("TITLE")
    static let titles = tr("TITLES")
    static let type = tr("TYPE")
    static let types = tr("TYPES")
    static let what = tr("WHAT")
    static let when = tr("WHEN")
}

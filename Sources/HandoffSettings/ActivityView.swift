// SPDX-License-Identifier: LGPL-2.1-or-later
import CAdwaita
import GTKObjects
import GTKSupport
import HandoffSettingsModel
import Platform

/// The page that tells what other devices have fetched, and which have listed what is open here.
@MainActor
final class ActivityView {
    private let stack, recentGroup, totalsGroup, listingsGroup: GTKObject
    private let recent: RowList<FetchRowView>
    private let totals: RowList<FetchesRowView>
    private let listings: RowList<ListingRowView>

    /// The page in `template`.
    init(_ template: Template, _ applications: InstalledApplications) {
        stack = template["activity_stack"]
        (recentGroup, totalsGroup) = (template["recent_group"], template["totals_group"])
        listingsGroup = template["listings_group"]
        recent = RowList(template["recent"]) { _ in FetchRowView(applications) }
        totals = RowList(template["totals"]) { _ in FetchesRowView() }
        listings = RowList(template["listings"]) { _ in ListingRowView() }
    }

    /// Shows `page`.
    func show(_ page: ActivityPage) {
        recent.set(page.recent)
        totals.set(page.devices)
        listings.set(page.listings)
        recentGroup[flag: "visible"] = !page.recent.isEmpty
        totalsGroup[flag: "visible"] = !page.devices.isEmpty
        listingsGroup[flag: "visible"] = !page.listings.isEmpty
        stack[text: "visible-child-name"] = page.isEmpty ? "empty" : "activity"
    }
}

/// One occasion.
@MainActor
final class FetchRowView: ContentRow {
    let widget: GTKObject
    private let picture, title, device, detail: GTKObject
    private let applications: InstalledApplications

    /// A row.
    init(_ applications: InstalledApplications) {
        let template = Template(Templates.fetch)
        (widget, picture, title) = (template["row"], template["picture"], template["title"])
        (device, detail) = (template["device"], template["detail"])
        self.applications = applications
    }

    func show(_ content: FetchRow) {
        applications.show(content.pictures, in: picture)
        if content.pictures.isEmpty {
            gtk_image_set_from_icon_name(picture.pointer, "edit-paste-symbolic")
        }
        title[text: "label"] = content.title
        device[text: "label"] = content.device
        detail[text: "label"] = content.detail
    }
}

/// What one device has fetched in all.
@MainActor
final class FetchesRowView: ContentRow {
    let widget: GTKObject

    /// A row.
    init() { widget = GTKObject.actionRow() }

    func show(_ content: FetchesRow) {
        widget[text: "title"] = content.name
        widget[text: "subtitle"] =
            content.last.isEmpty
            ? content.counts
            : tr("{counts}, the last one {age}", ["counts": content.counts, "age": content.last])
    }
}

/// What one device was told to be open here.
@MainActor
final class ListingRowView: ContentRow {
    let widget: GTKObject

    /// A row.
    init() { widget = GTKObject.actionRow() }

    func show(_ content: ListingRow) {
        widget[text: "title"] = content.name
        widget[text: "subtitle"] = content.detail
    }
}

extension GTKObject {
    /// A row with a title and a subtitle, both plain text.
    static func actionRow() -> GTKObject {
        let row = GTKObject(adw_action_row_new())
        row[flag: "use-markup"] = false
        row[number: "title-lines"] = 2
        return row
    }
}

// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffStatus

extension LocalActivity {
    var json: JSON {
        [
            "activityId": .string(id), "activityType": .string(type), "title": .string(title),
            "applicationId": .string(applicationID), "excluded": .boolean(isExcluded),
        ]
    }
}

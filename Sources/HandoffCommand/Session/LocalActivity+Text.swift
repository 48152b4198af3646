// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffClient

extension LocalActivity {
    var json: JSON {
        [
            "id": .string(id), "type": .string(type), "title": .string(title),
            "applicationId": .string(applicationID), "excluded": .boolean(isExcluded),
        ]
    }
}

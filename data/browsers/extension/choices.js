// SPDX-License-Identifier: LGPL-2.1-or-later
// What the user has chosen for this browser.

import {api} from './api.js';

const DEFAULTS = {forms: false, sites: []};

function checked({forms, sites}) {
    return {
        forms: forms === true,
        sites: Array.isArray(sites) ? sites.filter(site => typeof site === 'string') : [],
    };
}

// `forms`: whether what is in forms goes along; `sites`: those whose pages are never continued elsewhere.
export async function choices() {
    return checked(await api.storage.local.get(DEFAULTS));
}

export async function choose(changes) {
    await api.storage.local.set(changes);
}

// Calls `body` whenever something else is chosen.
export function onChoice(body) {
    api.storage.onChanged.addListener((_changes, area) => {
        if (area === 'local')
            body();
    });
}

// SPDX-License-Identifier: LGPL-2.1-or-later
// What the user chooses for this browser. It holds as soon as it is chosen.

import {api} from './api.js';
import {choices, choose, onChoice} from './choices.js';
import {writtenSite} from './pages.js';
import {translate} from './texts.js';

const [forms, sites, wrong] = ['forms', 'sites', 'wrong'].map(id => document.getElementById(id));

async function show() {
    const chosen = await choices();
    forms.checked = chosen.forms;
    if (document.activeElement !== sites)
        sites.value = chosen.sites.join('\n');
}

forms.addEventListener('change', () => choose({forms: forms.checked}));
sites.addEventListener('change', async () => {
    const lines = sites.value.split('\n').map(line => line.trim()).filter(line => line !== '');
    const bad = lines.find(line => writtenSite(line) === null);
    wrong.hidden = bad === undefined;
    wrong.textContent = bad === undefined ? '' : api.i18n.getMessage('noSite', bad.slice(0, 100));
    // What is right holds, also while something else is not.
    await choose({sites: [...new Set(lines.map(writtenSite).filter(site => site !== null))].sort()});
});
onChoice(() => void show());
translate();
void show();

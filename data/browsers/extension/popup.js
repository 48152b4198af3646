// SPDX-License-Identifier: LGPL-2.1-or-later
// The pages of other devices, and what is in the way if there are none.

import {api} from './api.js';
import {choices, choose} from './choices.js';
import {site} from './pages.js';
import {translate} from './texts.js';

const get = id => document.getElementById(id);
const text = api.i18n.getMessage;
// What there is to say of each standing in which nothing is continued.
const TROUBLES = {
    missing: 'hostMissing', absent: 'brokerAbsent', off: 'switchedOff', disabled: 'adapterOff', excluded: 'browserExcluded',
    replaced: 'browserReplaced',
};

function show(id, said) {
    get(id).textContent = said ?? '';
    get(id).hidden = !said;
}

// One offer. Its title and its device each have a place of their own, in which nothing else ever stands.
function item(offer, background) {
    const title = Object.assign(document.createElement('span'), {className: 'title', textContent: offer.title});
    const device = Object.assign(document.createElement('span'), {className: 'device', textContent: offer.device});
    const button = document.createElement('button');
    button.append(title, device);
    button.disabled = offer.busy;
    button.addEventListener('click', () => {
        button.disabled = true;
        background.postMessage({message: 'continue', offer: offer.id});
    });
    const line = document.createElement('li');
    line.append(button);
    return line;
}

const background = api.runtime.connect({name: 'popup'});
// The site of the page in front.
let chosen = null;

background.onMessage.addListener(({standing, offers, outcome, page}) => {
    const trouble = TROUBLES[standing];
    show('trouble', trouble && text(trouble));
    get('nothing').hidden = Boolean(trouble) || offers.length > 0;
    get('offers').replaceChildren(...(trouble ? [] : offers.map(offer => item(offer, background))));
    show('failure', outcome?.error);
    const host = page && site(page.url);
    get('exclude').hidden = !host;
    get('exclude').textContent = host ? text('excludeSite', host) : '';
    chosen = host;
});

get('exclude').addEventListener('click', async () => {
    if (!chosen)
        return;
    const {sites} = await choices();
    await choose({sites: [...new Set([...sites, chosen])].sort()});
});
get('options').addEventListener('click', () => {
    api.runtime.openOptionsPage();
    close();
});
translate();

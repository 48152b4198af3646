// SPDX-License-Identifier: LGPL-2.1-or-later
// Stands for a page that is continued here, in a tab that its user has not turned to yet, and goes there when they do.

import {waitedFor} from './windows.js';

const page = waitedFor(location.href.replace(/#.*$/su, ''), location.href);

function goWhenSeen() {
    if (document.visibilityState === 'visible')
        location.replace(page.url);
}

if (page) {
    document.title = page.title || page.url;
    document.getElementById('title').textContent = page.title;
    document.getElementById('address').textContent = page.url;
    document.addEventListener('visibilitychange', goWhenSeen);
    goWhenSeen();
}

// SPDX-License-Identifier: LGPL-2.1-or-later
// The texts of a page of this add-on, in the language of the browser.

import {api} from './api.js';

export function translate() {
    document.documentElement.lang = api.i18n.getUILanguage();
    for (const element of document.querySelectorAll('[data-text]'))
        element.textContent = api.i18n.getMessage(element.dataset.text);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
// What the browser offers add-ons, by whichever name it has it.

export const api = globalThis.browser ?? globalThis.chrome;
const isFirefox = location.protocol === 'moz-extension:';
// Firefox tells when all of its windows have lost the focus; Chromium does not, on X11.
export const tellsLostFocus = isFirefox;
// Firefox opens a tab without loading its page; in Chromium a tab that is unloaded at once loses its address.
export const opensUnloaded = isFirefox;
